/**
 * Outputs beyond the target's log-probability, from a server that accepts several targets per position: log-probabilities
 * at given ids, or at all ids of a small vocabulary, from which entropy and the top k are computed here.
 */
import type { TokenRows } from "../../core/batch.ts";
import { rowCount } from "../../core/batch.ts";
import type { AtIds, Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import { placesOf } from "./datum.ts";
import { type Datum, textInput } from "./protocol.ts";
import { tensorOf } from "./tensors.ts";

/** Largest vocabulary: larger ones would take megabytes per sequence. */
export const mostWords = 1024;

const needsAll = ({ entropy, topk }: Wanted): boolean => entropy === true || topk !== undefined;

/** The ids to request at each target. Undefined: none. */
export function idsFor(want: Wanted, targets: number, vocabulary: number): AtIds | undefined {
  if (!needsAll(want)) return want.at;
  const ids = Int32Array.from({ length: targets * vocabulary }, (_, i) => i % vocabulary);
  return { ids, width: vocabulary };
}

/**
 * A datum per row with all ids of each target, for `cross_entropy`, whose loss is −Σ weight · ln p.
 * @param weights [A, width], row-major. Default: 0, for a forward pass.
 */
export function severalData(rows: TokenRows, { ids, width }: AtIds, weights?: Float32Array): Datum[] {
  return Array.from({ length: rowCount(rows) }, (_, r) => {
    const tokens = rows.tokens_N.subarray(rows.rowOffset[r], rows.rowOffset[r + 1]! - 1);
    const targets = new Int32Array(tokens.length * width);
    const own = new Float32Array(targets.length);
    const first = rows.targetOffset[r]!;
    placesOf(rows, r).forEach((place, i) => {
      const from = (first + i) * width;
      targets.set(ids.subarray(from, from + width), place * width);
      if (weights) own.set(weights.subarray(from, from + width), place * width);
    });
    const shape = [tokens.length, width];
    return {
      model_input: textInput(tokens),
      loss_fn_inputs: {
        target_tokens: tensorOf("int64", targets, shape),
        weights: tensorOf("float32", own, shape),
      },
    };
  });
}

/** The requested outputs, from ln p at the requested ids. Entropy is −Σ p ln p, nats. */
export function outputsOf(
  want: Wanted,
  { width }: AtIds,
  logp: Float32Array,
): Omit<Outputs, "logp" | "heads"> {
  if (!needsAll(want)) return { at: logp };
  const targets = logp.length / width;
  const entropy = new Float32Array(targets);
  for (let i = 0; i < logp.length; i++) entropy[Math.floor(i / width)]! -= Math.exp(logp[i]!) * logp[i]!;
  const { topk: k, at } = want;
  const gathered = at && Float32Array.from(at.ids, (id, i) => logp[Math.floor(i / at.width) * width + id]!);
  return {
    ...(want.entropy && { entropy }),
    ...(k !== undefined && { topk: mostProbable(logp, width, k) }),
    ...(gathered && { at: gathered }),
  };
}

/** The k most probable of each row of [A, width]; ties go to the lower id. */
function mostProbable(logp: Float32Array, width: number, k: number) {
  const targets = logp.length / width;
  const ids = new Int32Array(targets * k);
  const own = new Float32Array(targets * k);
  for (let a = 0; a < targets; a++) {
    const row = logp.subarray(a * width, (a + 1) * width);
    const order = Array.from(row.keys()).sort((i, j) => row[j]! - row[i]! || i - j);
    for (let j = 0; j < k; j++) {
      ids[a * k + j] = order[j]!;
      own[a * k + j] = row[order[j]!]!;
    }
  }
  return { ids, logp: own, k };
}

/**
 * ∂loss/∂ln p at the requested ids, [A, width]. With H = −Σ p ln p, ∂H/∂ln p_v = −p_v (ln p_v + 1); the server
 * differentiates through the normalisation.
 * @returns undefined where the loss does not depend on them.
 */
export function severalCotangents(
  want: Wanted,
  { width }: AtIds,
  logp: Float32Array,
  { topk }: Pick<Outputs, "topk">,
  cotangents: Cotangents,
): Float32Array | undefined {
  if (!needsAll(want)) return cotangents.at;
  if (!cotangents.entropy && !cotangents.topk && !cotangents.at) return undefined;
  const out = new Float32Array(logp.length);
  if (cotangents.entropy) {
    for (let i = 0; i < out.length; i++) {
      out[i] = -cotangents.entropy[Math.floor(i / width)]! * Math.exp(logp[i]!) * (logp[i]! + 1);
    }
  }
  const add = (ids: Int32Array, each: number, slopes: Float32Array): void =>
    slopes.forEach((slope, i) => {
      out[Math.floor(i / each) * width + ids[i]!]! += slope;
    });
  if (topk && cotangents.topk) add(topk.ids, topk.k, cotangents.topk);
  if (want.at && cotangents.at) add(want.at.ids, want.at.width, cotangents.at);
  return out;
}
