import { z } from "zod";
import type { Ctx } from "../core/context.ts";
import type { Feedback } from "../core/slots.ts";
import { paid, type Trajectory } from "../core/types.ts";

/** Named numbers of a trajectory; a name that is absent is a 0. */
type Features = Readonly<Record<string, number>>;

/** Settings of {@link learntReward}. */
export interface LearntRewardOptions {
  /** What a reward is predicted from. */
  readonly features: (ctx: Ctx, trajectory: Trajectory) => Features;
  /** Name of the helper that learns it: from features and what was heard to a reward. Default "reward". */
  readonly helper?: string;
  /** What was said of a trajectory, good 1 to bad 0; null: nothing. Default: what was paid, and nothing where no reward has a name. */
  readonly heard?: (trajectory: Trajectory) => number | null;
  /** Most trajectories, the last ones, that it is fitted to. 0: it is never fitted, since it has been already. Default 4000. */
  readonly keep?: number;
  /** Default "reward". */
  readonly channel?: string;
}

/**
 * What a reward model makes of every trajectory, those included of which nobody said a thing: first it is fitted to all
 * that was served so far and what was heard of it, silence kept apart from dislike, then it scores what came now. Rows are
 * kept in the run's memory. A failed episode is neither learnt from nor scored; where the model has no answer yet (NaN)
 * nothing is said.
 *
 * The helper is one from features and a number or null to a number, such as an observational reward.
 */
export function learntReward(options: LearntRewardOptions): Feedback {
  const { features, helper = "reward", heard = heardOf, keep = 4000, channel = "reward" } = options;
  return async (ctx, experience) => {
    const model = ctx.helper<Features, number | null, number>(helper);
    const trajectories = experience.trajectories.filter((t) => t.end.kind !== "failed");
    const xs = trajectories.map((t) => features(ctx, t));
    if (keep > 0) {
      const key = `learntReward ${helper}`;
      const before = kept.parse(ctx.memory.get(key) ?? []);
      const now = xs.map((x, i) => ({ x, y: heard(trajectories[i]!) }));
      const rows = [...before, ...now].slice(-keep);
      ctx.memory.set(key, rows);
      await model.fit(rows.map((row) => ({ ...row, weight: 1 })));
    }
    const scores = await model.predict(xs);
    return trajectories.flatMap((t, i) => {
      const value = scores[i]!;
      if (Number.isNaN(value)) return [];
      return [
        { kind: "score" as const, channel, about: [{ trajectory: t.id }], value, source: "reward model" },
      ];
    });
  };
}

/** Rows as the run's memory keeps them. */
const kept = z.array(z.object({ x: z.record(z.string(), z.number()), y: z.number().nullable() }));

/** What was paid over the whole episode; null where nothing was, not even 0. */
function heardOf(t: Trajectory): number | null {
  return t.turns.some(({ rewards }) => Object.keys(rewards).length > 0) ? paid(t) : null;
}
