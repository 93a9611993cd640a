/** Proof that a sampler has the weights of now: a few tokens, and what the trainer says about them before and after. */
import type { TokenRows } from "../../core/batch.ts";
import type { WhetstoneError } from "../../core/errors.ts";
import { failed } from "./transport.ts";

/** A few tokens, and the trainer's log-probabilities of each after the first when a sampler was last made. */
export interface Witness {
  readonly row: TokenRows;
  readonly logp?: Promise<Float32Array>;
}

const most = 32;

/**
 * How much further from the weights of now than from those before a sampler may be, in nats.
 * @param gap between this server's trainer and its sampler on the same weights, as it was found: what one of them computes in 16
 * bits is often further from the other than a step moves either.
 */
export const noiseOf = (gap = 0): number => Math.max(1e-3, 3 * gap);

/** @returns undefined for a single token, which says nothing. */
export function witnessOf(prompt: Int32Array): Witness | undefined {
  const tokens_N = prompt.slice(0, most);
  if (tokens_N.length < 2) return undefined;
  const targets = tokens_N.length - 1;
  return {
    row: {
      tokens_N,
      rowOffset: Int32Array.of(0, tokens_N.length),
      target_A: Int32Array.from({ length: targets }, (_, i) => i + 1),
      targetOffset: Int32Array.of(0, targets),
    },
  };
}

/** max |aᵢ − bᵢ|. */
export const distance = (a: Float32Array, b: Float32Array): number =>
  a.reduce((largest, x, i) => Math.max(largest, Math.abs(x - b[i]!)), 0);

/**
 * A sampler that is made after a step must be nearer to the trainer's log-probabilities of now than to those before it.
 * @param noise see {@link noiseOf}.
 * @throws WhetstoneError `engine.failed` for stale weights.
 */
export function requireFresh(
  sampled: Float32Array,
  now: Float32Array,
  before: Float32Array | undefined,
  noise: number,
): void {
  if (!before) return;
  const [near, far] = [distance(sampled, now), distance(sampled, before)];
  if (near > far + noise) throw staleSampler(near, far);
}

/** @param now distance from the weights of now, in nats. @param before from those before. */
export const staleSampler = (now: number, before: number): WhetstoneError =>
  failed(
    "the sampler after a step",
    `log-probabilities ${now.toExponential(1)} nats from the new weights and ${before.toExponential(1)} from those before`,
    "The server samples from old weights: restart it, then resume the run.",
  );
