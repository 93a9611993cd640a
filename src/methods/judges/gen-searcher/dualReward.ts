import type { Ctx } from "../../../core/context.ts";
import { type Able, evaluatorIn, totalScore } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { paid, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link dualReward}. */
export interface DualRewardOptions {
  /** Judges what was made of an attempt, in [0, 1]; "environment": the rewards that the environment paid. */
  readonly made: Able<"score"> | "environment";
  /** Judges the attempt's own text, in [0, 1]. */
  readonly text: Able<"score">;
  /** c in [0, 1], the text judge's share. */
  readonly share: number;
}

/**
 * A reward from two judges, one of what was made of an attempt and one of what the attempt itself says:
 *
 *     R = (1 − c) · R_made + c · R_text          R = 0 for an attempt that was cut off at a limit
 *
 * The first keeps the reward honest, the second takes the noise of the making out of it. An attempt that a judge fails on gets no signal,
 * which is not a 0; a judge whose share is 0 is not asked. On channel "outcome"; failed episodes get none.
 * Paper: "Gen-Searcher: Reinforcing Agentic Search for Image Generation".
 */
export function dualReward({ made, text, share }: DualRewardOptions): Feedback {
  return async (ctx, { trajectories }) => {
    const played = trajectories.filter((t) => t.end.kind !== "failed");
    const signals = played.map(async (t): Promise<readonly Signal[]> => {
      const value = t.end.kind === "truncated" ? 0 : await blended(ctx, t, { made, text, share });
      if (value === undefined) return [];
      return [
        { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "two judges" },
      ];
    });
    return (await Promise.all(signals)).flat();
  };
}

async function blended(ctx: Ctx, t: Trajectory, of: DualRewardOptions): Promise<number | undefined> {
  const random = ctx.random.split("two judges", t.id);
  const ask = async (judge: DualRewardOptions["made"], name: string): Promise<number | undefined> => {
    if (judge === "environment") return paid(t);
    const scores = await evaluatorIn(ctx, judge).score(t, random.split(name));
    return scores && totalScore(scores);
  };
  const [made, text] = await Promise.all([
    of.share < 1 ? ask(of.made, "made") : 0,
    of.share > 0 ? ask(of.text, "text") : 0,
  ]);
  return made === undefined || text === undefined ? undefined : (1 - of.share) * made + of.share * text;
}
