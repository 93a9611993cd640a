import { rewritten } from "../../../common/tokens/rewrite.ts";
import { overAll } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage, Rollout } from "../../../core/slots.ts";
import { type Id, succeeded, type Trajectory } from "../../../core/types.ts";

/**
 * Folds the end of a chain of attempts back to its beginning: the attempt that succeeded becomes the first answer to the bare
 * problem, and the failed attempts before it are gone.
 *
 *     (x, a_1, y_1, wrong, …, a_t, y_t)  →  (x, a_t, y_t)        where r_t = 1
 *
 * A success at the first attempt stays as it is. The new trajectories have `lineage.turn` = t − 1, counted from 0, and unknown
 * log-probabilities under the bare prompt. They alone, with the first successes, are units, grouped by task; a chain without
 * success gives none. Needs a rollout of episodes that end at the first right attempt.
 *
 * Stats: `first`, share of chains that succeed at once; `folded`, share that are folded back; `attempts`, mean number of attempts.
 * Paper: "SMART: Self-learning Meta-strategy Agent for Reasoning Tasks".
 */
export function foldedBack(rollout: Rollout): Rollout {
  return async (ctx) => {
    const played = await rollout(ctx);
    const whole = played.trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const taught = whole.filter(succeeded).map((t) => (t.turns.length === 1 ? t : folded(t)));
    function folded(t: Trajectory): Trajectory {
      const last = t.turns.length - 1;
      const { codec } = ctx.model(t.turns[last]!.model);
      const bare = t.turns[0]!.prompt;
      return {
        ...rewritten({ ...t, turns: t.turns.slice(last) }, `${t.id}/folded`, codec, () => bare),
        lineage: { parent: t.id, turn: last, why: "rewrite" },
      };
    }
    const share = (count: number) => count / Math.max(1, whole.length);
    return {
      ...played,
      trajectories: [...played.trajectories, ...taught.filter(({ lineage }) => lineage?.why === "rewrite")],
      units: taught.map(({ id, task }) => ({ id, group: task, members: [id] })),
      stats: {
        ...played.stats,
        first: share(whole.filter((t) => t.turns.length === 1 && succeeded(t)).length),
        folded: share(taught.filter(({ lineage }) => lineage?.why === "rewrite").length),
        attempts: share(whole.reduce((sum, t) => sum + t.turns.length, 0)),
      },
    };
  };
}

/**
 * Weights of imitation: 1 where the first attempt succeeded, `late` where a later one was folded back.
 *
 *     A[i] = w(t_i),   w(1) = 1,   w(t > 1) = late
 *
 * Paper: "SMART: Self-learning Meta-strategy Agent for Reasoning Tasks".
 */
export function byAttempt({ late }: { readonly late: number }): Advantage<null> {
  return {
    name: "byAttempt",
    init: () => null,
    apply: ({ trajectories, units }) => {
      const members = new Set<Id>(units.flatMap((unit) => unit.members));
      const own = trajectories.filter(({ id }) => members.has(id));
      return {
        advantages: new Map(own.map((t) => [t.id, overAll(t, (t.lineage?.turn ?? 0) > 0 ? late : 1)])),
        next: null,
        stats: {},
      };
    },
  };
}
