import type { Feedback } from "../../../core/slots.ts";

/** Settings of {@link inducedOutcome}. */
export interface InducedOutcomeOptions {
  /** λ: share of the confidence that is withheld from the final reward, in [0, 1]. Default 0.5. */
  readonly withheld?: number;
  /** Whether turns are rewarded for raising the likelihood. Default true. */
  readonly potential?: boolean;
  /** Largest magnitude of an increase, in nats. Default 5. */
  readonly limit?: number;
  /** Channels of the increases and of the final reward. Default "potential" and "trust". */
  readonly channels?: { readonly potential: string; readonly trust: string };
}

/**
 * Rewards from the clusters of a group's own answers, which `answerClusters` has noted:
 *
 *     r[k] = q · clamp(ln(p[k + 1] + 1e-8) − ln(p[k] + 1e-8), ±limit),   k = 0 … turns − 2
 *     r[last] = (1 − withheld) · q
 *
 * q is the confidence in the attempt's own cluster and p[k] the likelihood of its answers before turn k. The turn that
 * writes the answer gets no increase, which would reward the mere writing of it. An attempt without notes gets no reward.
 * Paper: "Self-Induced Outcome Potential: Turn-Level Credit Assignment for Agents without Verifiers".
 */
export function inducedOutcome(options: InducedOutcomeOptions = {}): Feedback {
  const { withheld = 0.5, potential = true, limit = 5, channels = own } = options;
  return async (_ctx, { trajectories }, notes) =>
    trajectories.flatMap((t) => {
      const trust = notes["cluster.trust"]?.get(t.id)?.[0];
      if (trust === undefined) return [];
      const likelihood = notes["cluster.likelihood"]?.get(t.id) ?? new Float32Array();
      const ln = (k: number): number => Math.log(likelihood[k]! + 1e-8);
      return t.turns.flatMap((_, k) => {
        const last = k === t.turns.length - 1;
        if (!last && !potential) return [];
        const rise = last ? 1 - withheld : Math.max(-limit, Math.min(limit, ln(k + 1) - ln(k)));
        if (Number.isNaN(rise)) return []; // an answer that did not fit after this turn
        const about = [{ trajectory: t.id, turn: k }];
        const channel = last ? channels.trust : channels.potential;
        return [{ kind: "reward" as const, channel, about, value: trust * rise, source: "own answers" }];
      });
    });
}

const own = { potential: "potential", trust: "trust" } as const;
