import type { Feedback } from "../core/slots.ts";

/** Settings of {@link informationGain}. */
export interface InformationGainOptions {
  /** Note with a likelihood before each turn. Default "gold". */
  readonly note?: string;
  /** Default "gain". */
  readonly channel?: string;
}

/**
 * The increase of an answer's likelihood by each turn, as a reward of that turn:
 *
 *     gain[k] = P[k + 1] − P[k],   k = 0 … turns − 2         P[k]: before turn k
 *
 * So the turn that asks is rewarded for the reply that it gets. The last turn, which answers or is truncated, gets no
 * reward. Nor does a trajectory without the note, or a turn next to an unknown likelihood (NaN).
 * Paper: "Information Gain-based Policy Optimization: A Simple and Effective Approach for Multi-Turn LLM Agents".
 */
export function informationGain({ note = "gold", channel = "gain" }: InformationGainOptions = {}): Feedback {
  return async (_ctx, { trajectories }, notes) =>
    trajectories.flatMap((t) => {
      const likelihood = notes[note]?.get(t.id) ?? new Float32Array();
      return Array.from(likelihood.subarray(1), (after, k) => after - likelihood[k]!).flatMap((value, k) =>
        Number.isNaN(value)
          ? []
          : [
              {
                kind: "reward" as const,
                channel,
                about: [{ trajectory: t.id, turn: k }],
                value,
                source: "policy",
              },
            ],
      );
    });
}
