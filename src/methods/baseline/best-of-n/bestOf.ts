import { mapById } from "../../../common/mapById.ts";
import { evaluatorIn } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, type Id, type Trajectory } from "../../../core/types.ts";

/**
 * Best of n: keeps, of each group of the rollout, only the unit with the highest score of the environment.
 *
 *     y* = argmax_k Σ score(y_k)        the first of equals
 *
 * Without a score, the sum of rewards ranks the units; a unit without either ranks last. The trajectories of the
 * other units are dropped; their tokens are counted as discarded. Failed episodes stay.
 */
export function bestOf(rollout: Rollout): Rollout {
  return async (ctx) => {
    const experience = await rollout(ctx);
    const { score } = evaluatorIn(ctx, ctx.environment);
    const worth = async (t: Trajectory): Promise<number> => {
      const scores = Object.values((await score(t, ctx.random.split("score", t.id))) ?? {});
      const values = scores.length > 0 ? scores : t.turns.flatMap((turn) => Object.values(turn.rewards));
      return values.length === 0 ? Number.NEGATIVE_INFINITY : values.reduce((a, b) => a + b);
    };
    const byId = mapById(experience.trajectories);
    const scores = await Promise.all(
      experience.units.map(async ({ members }) => {
        const values = await Promise.all(members.flatMap((id) => byId.get(id) ?? []).map(worth));
        return values.reduce((a, b) => a + b, 0);
      }),
    );
    const best = new Map<Id, number>();
    experience.units.forEach(({ group }, i) => {
      const before = best.get(group);
      if (before === undefined || scores[i]! > scores[before]!) best.set(group, i);
    });
    const units = [...best.values()].map((i) => experience.units[i]!);
    const kept = new Set(units.flatMap((u) => u.members));
    const dropped = new Set(experience.units.flatMap((u) => u.members).filter((id) => !kept.has(id)));
    let discarded = 0;
    for (const id of dropped) {
      const t = byId.get(id);
      if (t) discarded += actionTokens(t);
    }
    ctx.count("tokens.discarded", discarded);
    return { ...experience, units, trajectories: experience.trajectories.filter((t) => !dropped.has(t.id)) };
  };
}
