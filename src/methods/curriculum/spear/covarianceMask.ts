import { mapById } from "../../../common/mapById.ts";
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link covarianceMask}. */
export interface CovarianceMaskOptions {
  /** φ, largest share of all tokens that are left out. Default 0.0002. */
  readonly share?: number;
  /** Tokens whose covariance lies between these two may be left out. Default 1 and 5. */
  readonly low?: number;
  readonly high?: number;
}

/** Column with 0 for tokens that are left out of the loss, and 1 for the others. */
export const covarianceColumn = "covariance";

/**
 * Leaves out tokens whose log-probability and advantage vary together most, which would make the entropy collapse:
 *
 *     cov[t] = (A[t] − mean A) (ln π[t] − mean ln π)        means over all tokens with an advantage
 *     of the tokens with low < cov[t] < high, at most ⌊φ · tokens⌋ are drawn; their loss is 0
 *
 * ln π is the log-probability when sampled; tokens without one are never left out. The state counts iterations, which the draw
 * depends on. Advantages stay as they are.
 * Paper: "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning".
 */
export function covarianceMask(options: CovarianceMaskOptions = {}): Advantage<number> {
  const { share = 0.0002, low = 1, high = 5 } = options;
  return {
    name: "covarianceMask",
    init: () => 0,
    apply: ({ trajectories }, iteration, soFar) => {
      const byId = mapById(trajectories);
      const tokens = [...(soFar ?? [])].flatMap(([id, own]) => {
        const logp = (byId.get(id)?.turns ?? []).flatMap((turn) => [...(turn.tokens?.logp ?? [])]);
        return [...own].map((advantage, at) => ({ id, at, advantage, logp: logp[at] ?? Number.NaN }));
      });
      const known = tokens.filter(({ logp }) => !Number.isNaN(logp));
      const meanOf = (of: (token: (typeof tokens)[number]) => number): number =>
        known.reduce((sum, token) => sum + of(token) / known.length, 0);
      const [advantage, logp] = [meanOf((t) => t.advantage), meanOf((t) => t.logp)];
      const tied = known.filter((t) => {
        const covariance = (t.advantage - advantage) * (t.logp - logp);
        return covariance > low && covariance < high;
      });
      const column = new Map<Id, Float32Array>(
        [...(soFar ?? [])].map(([id, own]) => [id, new Float32Array(own.length).fill(1)]),
      );
      const drawn = shuffled(tied, randomStream("covarianceMask").split(iteration));
      for (const { id, at } of drawn.slice(0, Math.floor(share * tokens.length))) column.get(id)![at] = 0;
      return {
        advantages: soFar ?? new Map(),
        next: iteration + 1,
        stats: {},
        columns: { [covarianceColumn]: column },
      };
    },
  };
}
