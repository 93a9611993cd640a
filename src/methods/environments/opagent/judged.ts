import type { Ctx } from "../../../core/context.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";

/** One call of a judge on a whole trajectory: its score in [0, 1]; undefined where it failed. */
export type Judge = (ctx: Ctx, trajectory: Trajectory, call: number) => Promise<number | undefined>;

/** Settings of {@link judged}. */
export interface JudgedOptions {
  /** Default: a judge that never errs, {@link noisyJudge} without noise. */
  readonly judge?: Judge;
  /** m, calls for each trajectory. Default 3. */
  readonly calls?: number;
  /** Factor on the verdict. Default 1. */
  readonly weight?: number;
  /** Default "judge". */
  readonly channel?: string;
}

/**
 * A judge's verdict on every trajectory, without a gold answer: the median of m calls, which is the majority for yes and
 * no. Failed calls are counted and left out; if all calls fail there is no signal, not a 0. Failed episodes are not
 * judged.
 *
 *     R = weight · median over the successful calls       of two middle ones, their mean
 *
 * Paper: "OpAgent: Operator Agent for Web Navigation".
 */
export function judged(options: JudgedOptions = {}): Feedback {
  const { judge = noisyJudge(), calls = 3, weight = 1, channel = "judge" } = options;
  return async (ctx, { trajectories }) => {
    const signals = trajectories
      .filter((t) => t.end.kind !== "failed")
      .map(async (t) => {
        const said = await Promise.all(Array.from({ length: calls }, (_, call) => judge(ctx, t, call)));
        ctx.count("judge.calls", calls);
        const scores = said.filter((score) => score !== undefined).sort((a, b) => a - b);
        if (scores.length < calls) ctx.count("judge.failures", calls - scores.length);
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
export function noisyJudge({ error = 0, failure = 0 }: JudgeNoise = {}): Judge {
  return async (ctx, t, call) => {
    const random = error === 0 && failure === 0 ? undefined : ctx.random.split("judge", t.id, call);
    if (random && random.next() < failure) return undefined;
    const wrong = random !== undefined && random.next() < error;
    return succeeded(t) !== wrong ? 1 : 0;
  };
}
