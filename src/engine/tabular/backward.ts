/** From the cotangents of a table's outputs to the gradient of its numbers. */
import type { TokenRows } from "../../core/batch.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import { entropyOf, logSoftmax } from "./softmax.ts";
import { contextsOf, type Weights } from "./weights.ts";

/**
 * Adds ∂loss/∂logits (and heads) into the arrays named `into`. With p the distribution of a target's context:
 *
 *     ∂ ln p[i] / ∂z = onehot(i) − p        ∂H / ∂z[j] = −p[j] (ln p[j] + H)
 */
export function backward(
  weights: Weights,
  rows: TokenRows,
  wanted: Wanted,
  outputs: Outputs,
  cotangents: Cotangents,
  into: string,
): void {
  const contexts = contextsOf(weights, rows);
  const { writable } = weights.codec;
  const table = weights.part("logits");
  const row_A = contexts.map((context) => table.row(context));
  const gradient = table.array(into);
  contexts.forEach((context, a) => {
    const logp_W = logSoftmax(weights.read("logits", context));
    const out_W = gradient.subarray(row_A[a]! * table.width, (row_A[a]! + 1) * table.width);
    let mass = 0;
    const towards = (id: number, c: number): void => {
      if (c === 0 || id < writable) return;
      out_W[id - writable]! += c;
      mass += c;
    };
    towards(rows.tokens_N[rows.target_A[a]!]!, cotangents.logp?.[a] ?? 0);
    if (cotangents.at && wanted.at) {
      for (let i = a * wanted.at.width; i < (a + 1) * wanted.at.width; i++)
        towards(wanted.at.ids[i]!, cotangents.at[i]!);
    }
    if (cotangents.topk && outputs.topk) {
      const { ids, k } = outputs.topk;
      for (let i = a * k; i < (a + 1) * k; i++) towards(ids[i]!, cotangents.topk[i]!);
    }
    const c = cotangents.entropy?.[a] ?? 0;
    const entropy = c === 0 ? 0 : entropyOf(logp_W);
    logp_W.forEach((lp, w) => {
      const p = Math.exp(lp);
      out_W[w]! -= mass * p + (p > 0 ? c * p * (lp + entropy) : 0);
    });
  });
  for (const [head, cotangent] of Object.entries(cotangents.heads ?? {})) {
    const values = weights.part(`head.${head}`);
    const rowOf = contexts.map((context) => values.row(context));
    const out = values.array(into);
    rowOf.forEach((row, a) => {
      out[row]! += cotangent[a]!;
    });
  }
}
