import { type ChannelOptions, creditsByToken, onTop } from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link tokenReturns}. */
export interface TokenReturnsOptions extends ChannelOptions {
  /** γ, worth of a credit one action token later, in [0, 1]; at 0 each token stands for itself. Default 1. */
  readonly discount?: number;
}

/**
 * The discounted return that follows each action token, compared with nothing: a critic's marks are signed already, and
 * `whitened` may follow.
 *
 *     A[a] = Σ_{l ≥ 0} γ^l · r[a + l]            observations in between are no steps
 *
 * A credit counts at the last token of the place that it is about. A trajectory without any credit is left out, one whose
 * credits are all 0 gets zeros.
 * Paper: "Text2Grad: Reinforcement Learning from Natural Language Feedback" (its return without a value head).
 */
export function tokenReturns({ discount = 1, ...channels }: TokenReturnsOptions = {}): Advantage<null> {
  return {
    name: "tokenReturns",
    init: () => null,
    apply: (evidence, _state, soFar) => {
      const members = new Set(evidence.units.flatMap((unit) => unit.members));
      const made = new Map<Id, Float32Array>();
      for (const [id, reward_A] of creditsByToken(evidence, channels)) {
        if (!members.has(id)) continue;
        for (let a = reward_A.length - 2; a >= 0; a--) reward_A[a]! += discount * reward_A[a + 1]!;
        made.set(id, Float32Array.from(reward_A));
      }
      return { advantages: onTop(made, soFar), next: null, stats: {} };
    },
  };
}
