/** Rows of a batch as datums, and any loss of log-probabilities through a loss that every server has. */
import type { TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import { type Datum, textInput } from "./protocol.ts";
import { floatTensor, idTensor } from "./tensors.ts";

/** Positions of a row's targets in its datum: the target at position p of the row is predicted at p − 1. */
export function placesOf(rows: TokenRows, r: number): Int32Array {
  const from = rows.rowOffset[r]!;
  const targets = rows.target_A.subarray(rows.targetOffset[r], rows.targetOffset[r + 1]);
  return targets.map((at) => at - from - 1);
}

/** A datum per row: the row without its last token, and the next token at each position. */
function shifted(rows: TokenRows, r: number) {
  const tokens = rows.tokens_N.subarray(rows.rowOffset[r], rows.rowOffset[r + 1]);
  return {
    model_input: textInput(tokens.subarray(0, -1)),
    target_tokens: idTensor(tokens.subarray(1)),
  };
}

const eachRow = <T>(rows: TokenRows, make: (r: number) => T): T[] =>
  Array.from({ length: rowCount(rows) }, (_, r) => make(r));

/** One row of which every token after the first is a target. */
export const wholeRow = (tokens_N: Int32Array): TokenRows => ({
  tokens_N,
  rowOffset: Int32Array.of(0, tokens_N.length),
  target_A: Int32Array.from({ length: tokens_N.length - 1 }, (_, i) => i + 1),
  targetOffset: Int32Array.of(0, tokens_N.length - 1),
});

/** For a forward pass: `cross_entropy` with weights of 0. */
export function scoringData(rows: TokenRows): Datum[] {
  return eachRow(rows, (r) => {
    const { model_input, target_tokens } = shifted(rows, r);
    const weights = floatTensor(new Float32Array(target_tokens.data.length));
    return { model_input, loss_fn_inputs: { target_tokens, weights } };
  });
}

/** How a server reduces the losses of several tokens and datums. */
export const reductions = ["sum", "sequence-mean"] as const;
export type Reduction = (typeof reductions)[number];

/**
 * For a backward pass with the cotangents g = ∂loss/∂logp: `importance_sampling`, whose loss −exp(logp − q) A has the
 * gradient g at q = logp and A = −g. Positions without a target have A = 0.
 *
 * "sequence-mean" servers divide each datum's loss by its length and the total by the number of datums of the step, so A
 * is multiplied by both.
 * @param logp_A just computed with the current weights.
 * @param datums number of datums in the whole step.
 */
export function carrierData(
  rows: TokenRows,
  logp_A: Float32Array,
  cotangent_A: Float32Array,
  reduction: Reduction,
  datums: number,
): Datum[] {
  return eachRow(rows, (r) => {
    const { model_input, target_tokens } = shifted(rows, r);
    const length = target_tokens.data.length;
    const logprobs = new Float32Array(length);
    const advantages = new Float32Array(length);
    const scale = reduction === "sum" ? 1 : length * datums;
    const first = rows.targetOffset[r]!;
    placesOf(rows, r).forEach((place, i) => {
      logprobs[place] = logp_A[first + i]!;
      advantages[place] = -scale * cotangent_A[first + i]!;
    });
    const inputs = { target_tokens, logprobs: floatTensor(logprobs), advantages: floatTensor(advantages) };
    return { model_input, loss_fn_inputs: inputs };
  });
}

/** Values at the targets, [A] or [A, width], from those at all positions of each datum. */
export function atTargets(rows: TokenRows, perDatum: readonly Float32Array[], width = 1): Float32Array {
  const out = new Float32Array(rows.target_A.length * width);
  perDatum.forEach((xs, r) => {
    const first = rows.targetOffset[r]!;
    placesOf(rows, r).forEach((place, i) => {
      out.set(xs.subarray(place * width, (place + 1) * width), (first + i) * width);
    });
  });
  return out;
}
