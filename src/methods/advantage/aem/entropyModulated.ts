import { moments } from "../../../advantage/returns.ts";
import { overTurns } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id, Trajectory, Turn } from "../../../core/types.ts";

/** Settings of {@link entropyModulated}. */
export interface EntropyModulatedOptions {
  /** k: how much more confident responses count than uncertain ones; below 0 the reverse. Default 1. */
  readonly strength?: number;
}

/**
 * Scales the advantages of the estimators before it in the list, per response: confident responses count more, uncertain
 * ones less.
 *
 *     u = mean entropy of the response's tokens, in nats      û = (u − min u) / (max u − min u)
 *     c = exp(−k û) / mean(exp(−k û)),   A ← c · A            min, max and mean over all responses (turns) of the group
 *
 * Why: one step of natural gradient changes the entropy of a state by Cov(A, surprisal). Confident responses that fail
 * raise it, confident responses that succeed lower it; both get more weight.
 *
 * Without entropies from the sampler, the mean surprisal −ln p of the response's tokens is used. Equal responses
 * have c = 1 exactly; so has a turn without tokens or with unknown log-probabilities. Trajectories without advantages
 * stay out of the group. Stats: the deviation of c over all responses.
 * Paper: "AEM: Adaptive Entropy Modulation for Multi-Turn Agentic Reinforcement Learning".
 */
export function entropyModulated({ strength = 1 }: EntropyModulatedOptions = {}): Advantage<null> {
  return {
    name: "entropyModulated",
    init: () => null,
    apply: ({ trajectories, units }, _state, soFar) => {
      const groupOf = new Map<Id, Id>(units.flatMap(({ members, group }) => members.map((m) => [m, group])));
      const learning = trajectories.filter((t) => groupOf.has(t.id) && soFar?.has(t.id));
      const advantages = new Map(soFar);
      const all: number[] = [];
      for (const group of Map.groupBy(learning, (t) => groupOf.get(t.id)).values()) {
        const factors = coefficients(group, strength);
        group.forEach((t, i) => {
          const factor_A = overTurns(t, factors[i]!);
          advantages.set(
            t.id,
            soFar!.get(t.id)!.map((a, j) => a * factor_A[j]!),
          );
        });
        all.push(...factors.flat());
      }
      const stats = all.length > 0 ? { "coefficient.deviation": moments(all).deviation } : {};
      return { advantages, next: null, stats };
    },
  };
}

/** c of every turn of every trajectory of one group. */
function coefficients(group: readonly Trajectory[], strength: number): number[][] {
  const unsure = group.map((t) => t.turns.map(uncertainty));
  const known = unsure.flat().filter(Number.isFinite);
  const low = Math.min(...known);
  const width = Math.max(...known) - low;
  if (!(width > 0)) return unsure.map((turns) => turns.map(() => 1));
  const weight = (u: number): number => Math.exp((-strength * (u - low)) / width);
  const mean = known.reduce((sum, u) => sum + weight(u) / known.length, 0);
  return unsure.map((turns) => turns.map((u) => (Number.isFinite(u) ? weight(u) / mean : 1)));
}

/** Mean over the response's tokens, in nats; NaN where nothing is known. */
function uncertainty({ tokens }: Turn): number {
  if (!tokens || tokens.action.length === 0) return Number.NaN;
  const nats = tokens.entropy ?? tokens.logp.map((logp) => -logp);
  return nats.reduce((a, b) => a + b, 0) / nats.length;
}
