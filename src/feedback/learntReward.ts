import { z } from "zod";
import type { Ctx } from "../core/context.ts";
import { type Attempt, evaluatorIn, scorer, totalScore } from "../core/evaluator.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import { paid, type Trajectory } from "../core/types.ts";

/** Named numbers of a trajectory; an absent name counts as 0. */
type Features = Readonly<Record<string, number>>;

/** Settings of {@link learntReward}. */
export interface LearntRewardOptions {
  /** Features from which the reward is predicted. */
  readonly features: (ctx: Ctx, trajectory: Trajectory) => Features;
  /** Name of the helper that is the reward model. Default "reward". */
  readonly helper?: string;
  /** Feedback on a trajectory, from 1 (good) to 0 (bad); null: none. Default: the sum of its rewards, null where it has no rewards. */
  readonly feedbackOn?: (trajectory: Trajectory) => number | null;
  /** Number of most recent trajectories that it is fitted to. 0: it is never fitted, for a pretrained helper. Default 4000. */
  readonly keep?: number;
  /** Default "reward". */
  readonly channel?: string;
}

/**
 * Scores every trajectory with a learnt reward model, also those without feedback. Each iteration, the model is fitted to
 * all trajectories so far with their feedback, where missing feedback (null) is distinct from dislike; then it scores the
 * new ones. The run's memory keeps the rows. Failed episodes are neither fitted nor scored; a prediction of NaN is a
 * failure and gives no signal.
 *
 * The helper maps features to a number and is fitted to numbers or null, such as an observational reward.
 */
export function learntReward(options: LearntRewardOptions): Feedback {
  const {
    features,
    helper = "reward",
    feedbackOn: heard = heardOf,
    keep = 4000,
    channel = "reward",
  } = options;
  return async (ctx, experience) => {
    const model = ctx.helper<Features, number | null, number>(helper);
    const trajectories = experience.trajectories.filter((t) => t.end.kind !== "failed");
    if (keep > 0) {
      const key = `learntReward ${helper}`;
      const before = kept.parse(ctx.memory.get(key) ?? []);
      const now = trajectories.map((t) => ({ x: features(ctx, t), y: heard(t) }));
      const rows = [...before, ...now].slice(-keep);
      ctx.memory.set(key, rows);
      await model.fit(rows.map((row) => ({ ...row, weight: 1 })));
    }
    const rewardModel = scorer<Attempt>(
      "reward model",
      async ({ trajectory }) => (await model.predict([features(ctx, trajectory)]))[0],
    );
    const { score } = evaluatorIn(ctx, rewardModel);
    const signals = trajectories.map(async (t): Promise<Signal[]> => {
      const scores = await score(t, ctx.random.split("reward model", t.id));
      if (!scores) return [];
      const value = totalScore(scores);
      return [{ kind: "score", channel, about: [{ trajectory: t.id }], value, source: rewardModel.name }];
    });
    return (await Promise.all(signals)).flat();
  };
}

/** Schema of the rows in the run's memory. */
const kept = z.array(z.object({ x: z.record(z.string(), z.number()), y: z.number().nullable() }));

/** Sum of an episode's rewards; null where it has none, not even 0. */
function heardOf(t: Trajectory): number | null {
  return t.turns.some(({ rewards }) => Object.keys(rewards).length > 0) ? paid(t) : null;
}
