import { type ChannelOptions, creditsByToken, onTop } from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link tokenReturns}. */
export interface TokenReturnsOptions extends ChannelOptions {
  /** γ, discount per action token, in [0, 1]; at 0 each token has only its own credit. Default 1. */
  readonly discount?: number;
}

/**
 * The discounted return from each action token on, without a baseline: a critiquer's marks are already signed, and `whitened`
 * may follow.
 *
 *     A[a] = Σ_{l ≥ 0} γ^l · r[a + l]            observations in between do not count as steps
 *
 * A credit counts at the last token of its range. A trajectory without any credit is left out; one whose credits are all
 * 0 gets zeros.
 * Paper: "Text2Grad: Reinforcement Learning from Natural Language Feedback" (its return without a value head).
 */
export function tokenReturns({ discount = 1, ...channels }: TokenReturnsOptions = {}): Advantage<null> {
  return {
    name: "tokenReturns",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const members = new Set(annotated.units.flatMap((unit) => unit.members));
      const made = new Map<Id, Float32Array>();
      for (const [id, reward_A] of creditsByToken(annotated, channels)) {
        if (!members.has(id)) continue;
        for (let a = reward_A.length - 2; a >= 0; a--) reward_A[a]! += discount * reward_A[a + 1]!;
        made.set(id, Float32Array.from(reward_A));
      }
      return { advantages: onTop(made, soFar), next: null, stats: {} };
    },
  };
}
