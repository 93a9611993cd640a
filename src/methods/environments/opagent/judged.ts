import { type Able, type Attempt, evaluatorIn, scorer, totalScore } from "../../../core/evaluator.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded } from "../../../core/types.ts";

/** Settings of {@link judged}. */
export interface JudgedOptions {
  /** Default: a judge that never errs, {@link noisyJudge} without noise. */
  readonly judge?: Able<"score">;
  /** m, calls for each trajectory. Default 3. */
  readonly calls?: number;
  /** Factor on the score. Default 1. */
  readonly weight?: number;
  /** Default "judge". */
  readonly channel?: string;
}

/**
 * A judge's score of every trajectory, without a gold answer: the median of m calls, which is the majority for yes and
 * no. Failed calls are left out; if all calls fail there is no signal, not a 0. Failed episodes are not
 * judged.
 *
 *     R = weight · median over the successful calls       of two middle ones, their mean
 *
 * Paper: "OpAgent: Operator Agent for Web Navigation".
 */
export function judged(options: JudgedOptions = {}): Feedback {
  const { judge = noisyJudge(), calls = 3, weight = 1, channel = "judge" } = options;
  return async (ctx, { trajectories }) => {
    const { score } = evaluatorIn(ctx, judge);
    const signals = trajectories
      .filter((t) => t.end.kind !== "failed")
      .map(async (t) => {
        const said = Array.from({ length: calls }, (_, call) =>
          score(t, ctx.random.split("judge", t.id, call)),
        );
        const scores = (await Promise.all(said))
          .flatMap((one) => (one ? [totalScore(one)] : []))
          .sort((a, b) => a - b);
        if (scores.length === 0) return [];
        const value = weight * median(scores);
        return [{ kind: "score", channel, about: [{ trajectory: t.id }], value, source: "judge" } as const];
      });
    return (await Promise.all(signals)).flat();
  };
}

/** Of sorted numbers. */
function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** Error and failure rates of a scripted judge's calls. Default 0. */
export interface JudgeNoise {
  readonly error?: number;
  readonly failure?: number;
}

/** A scripted judge: whether the episode was a success, or the opposite where it errs. Each call errs on its own. */
export function noisyJudge({ error = 0, failure = 0 }: JudgeNoise = {}): Able<"score"> {
  return scorer<Attempt>("noisy judge", async ({ trajectory }, { random }) => {
    if (random.next() < failure) return undefined;
    const wrong = random.next() < error;
    return succeeded(trajectory) !== wrong ? 1 : 0;
  });
}
