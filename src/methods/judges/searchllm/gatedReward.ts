import { type Able, type Attempt, evaluatorIn, scorer, totalScore } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { actionTokens, succeeded } from "../../../core/types.ts";
import { gated } from "./gate.ts";

/** Settings of {@link gatedReward}. */
export interface GatedRewardOptions {
  /** What an answer must not break: evaluators whose total score lies in [0, 1]. */
  readonly constraints: readonly Able<"score">[];
  /** What makes it good. */
  readonly behaviours: readonly { readonly by: Able<"score">; readonly weight?: number }[];
  /** δ of the gate. Default 1e-4. */
  readonly smoothing?: number;
}

/**
 * Rewards of a gate of constraints and a mean of behaviours, one per attempt, on channel "outcome"; see `gated`. An attempt on which one of
 * the evaluators fails has no reward, and failed episodes have none.
 * Paper: "Aligning Large Language Models with Searcher Preferences".
 */
export function gatedReward({ constraints, behaviours, smoothing = 1e-4 }: GatedRewardOptions): Feedback {
  return async (ctx, { trajectories }) => {
    const asked = [...constraints, ...behaviours.map(({ by }) => by)].map((one) => evaluatorIn(ctx, one));
    const signals = trajectories
      .filter((t) => t.end.kind !== "failed")
      .map(async (t): Promise<Signal[]> => {
        const all = await Promise.all(
          asked.map(({ score }, i) => score(t, ctx.random.split("gate", i, t.id))),
        );
        const known = all.flatMap((scores) => (scores ? [totalScore(scores)] : []));
        if (known.length < all.length) return [];
        const met = known.slice(0, constraints.length);
        const good = behaviours.map(({ weight = 1 }, m) => ({ value: known[met.length + m]!, weight }));
        const about = [{ trajectory: t.id }];
        return [
          { kind: "reward", channel: "outcome", about, value: gated(met, good, smoothing), source: "gate" },
        ];
      });
    return (await Promise.all(signals)).flat();
  };
}

/** 1 for a success by the environment's own verdict, else 0. */
export const solved: Able<"score"> = {
  ...scorer<Attempt>("solved", async ({ trajectory }) => Number(succeeded(trajectory))),
  verifies: true,
};

/** 1 without tokens, ½ at `half` of them: brevity in (0, 1]. */
export const brief = (half: number): Able<"score"> => ({
  ...scorer<Attempt>("brief", async ({ trajectory }) => half / (half + actionTokens(trajectory))),
  verifies: true,
});
