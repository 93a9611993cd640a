import type { Advantage } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/** Settings of {@link mismatchRejected}. */
export interface MismatchRejectedOptions {
  /** Range of the geometric mean of a trajectory's ratios. Default [0.999, 1.001]. */
  readonly mean?: readonly [low: number, high: number];
  /** Least ratio of any one token. Default 1e-4. */
  readonly veto?: number;
}

/**
 * Removes trajectories on which trainer and sampler disagree from the advantages of the estimators before it in the list.
 *
 *     ratio[a] = p_train(a) / p_sampler(a)
 *     kept where low ≤ exp(mean_a ln ratio[a]) ≤ high and every ratio[a] ≥ veto
 *
 * The trainer's probabilities are those recorded at temperature 1, the sampler's those of the sampling distribution.
 * Tokens without either are ignored; a trajectory without any usable token is kept. Stats: `rejected`, the share dropped.
 * Paper: "Dr. Kernel: Reinforcement Learning Done Right for Triton Kernel Generations".
 */
export function mismatchRejected(options: MismatchRejectedOptions = {}): Advantage<null> {
  const { mean: [low, high] = [0.999, 1.001], veto = 1e-4 } = options;
  const agrees = (t: Trajectory): boolean => {
    const gaps = logRatios(t);
    if (gaps.length === 0) return true;
    const mean = Math.exp(gaps.reduce((sum, gap) => sum + gap / gaps.length, 0));
    return mean >= low && mean <= high && gaps.every((gap) => gap >= Math.log(veto));
  };
  return {
    name: "mismatchRejected",
    init: () => null,
    apply: ({ trajectories }, _state, soFar) => {
      const seen = trajectories.filter((t) => soFar?.has(t.id));
      const advantages = new Map(soFar);
      for (const t of seen) if (!agrees(t)) advantages.delete(t.id);
      const kept = seen.filter((t) => advantages.has(t.id)).length;
      return { advantages, next: null, stats: seen.length > 0 ? { rejected: 1 - kept / seen.length } : {} };
    },
  };
}

/** ln ratio of every token that has both probabilities. */
function logRatios(t: Trajectory): number[] {
  return t.turns
    .flatMap(({ tokens }) => (tokens ? [...tokens.logp].map((logp, a) => logp - tokens.behaviour[a]!) : []))
    .filter((gap) => !Number.isNaN(gap));
}
