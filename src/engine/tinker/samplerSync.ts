/** Checks that a sampler has the current weights, from the trainer's log-probabilities of a few tokens before and after. */
import type { TokenRows } from "../../core/batch.ts";
import type { WhetstoneError } from "../../core/errors.ts";
import { wholeRow } from "./datum.ts";
import { failed } from "./transport.ts";

/** A few tokens, and the trainer's log-probabilities of each after the first when the last sampler was made. */
export interface Witness {
  readonly row: TokenRows;
  readonly logp?: Promise<Float32Array>;
}

const most = 32;

/**
 * Tolerance in nats: how much further a sampler may be from the current weights than from the previous ones.
 * @param gap measured between this server's trainer and sampler on the same weights: 16-bit computation often differs by more
 * than a step changes either.
 */
export const noiseOf = (gap = 0): number => Math.max(1e-3, 3 * gap);

/** @returns undefined for a single token, which has nothing to compare. */
export function witnessOf(prompt: Int32Array): Witness | undefined {
  return prompt.length < 2 ? undefined : { row: wholeRow(prompt.slice(0, most)) };
}

/** max |aᵢ − bᵢ|. */
export const distance = (a: Float32Array, b: Float32Array): number =>
  a.reduce((largest, x, i) => Math.max(largest, Math.abs(x - b[i]!)), 0);

/**
 * A sampler made after a step must be nearer to the trainer's current log-probabilities than to the previous ones.
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

/** @param now distance to the current weights, in nats. @param before distance to the previous ones. */
export const staleSampler = (now: number, before: number): WhetstoneError =>
  failed(
    "the sampler after a step",
    `log-probabilities ${now.toExponential(1)} nats from the new weights and ${before.toExponential(1)} from those before`,
    "The server samples from old weights: restart it, then resume the run.",
  );
