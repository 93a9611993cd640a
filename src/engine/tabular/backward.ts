/** From the cotangents of a table's outputs to the gradient of its numbers. */
import type { TokenRows } from "../../core/batch.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import { type Situation, situationsOf, type Weights } from "./weights.ts";

/**
 * Adds ∂loss/∂logits (and heads) into the arrays named `into`. With p the distribution of a target's context:
 *
 *     ∂ ln p[i] / ∂z = onehot(i) − p        ∂H / ∂z[j] = −p[j] (ln p[j] + H)
 *
 * What a message told adds to the logits is a constant: it changes p, and nothing else here.
 */
export function backward(
  weights: Weights,
  rows: TokenRows,
  wanted: Wanted,
  outputs: Outputs,
  cotangents: Cotangents,
  into: string,
): void {
  const situation_A = situationsOf(weights, rows);
  const { writable } = weights.codec;
  const table = weights.part("logits");
  const row_A = situation_A.map(({ context }) => table.row(context));
  const gradient = table.array(into);
  // what is due to the whole distribution of a situation is added up first, and spread over its words once
  const due = new Map<string, { situation: Situation; row: number; mass: number; entropy: number }>();
  situation_A.forEach((situation, a) => {
    const row = row_A[a]!;
    const out_W = gradient.subarray(row * table.width, (row + 1) * table.width);
    const own = due.get(situation.key) ?? { situation, row, mass: 0, entropy: 0 };
    due.set(situation.key, own);
    const towards = (id: number, c: number): void => {
      if (c === 0 || id < writable) return;
      out_W[id - writable]! += c;
      own.mass += c;
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
    own.entropy += cotangents.entropy?.[a] ?? 0;
  });
  for (const { situation, row, mass, entropy: c } of due.values()) {
    const { logp_W, entropy } = weights.distribution(situation);
    const out_W = gradient.subarray(row * table.width, (row + 1) * table.width);
    for (let w = 0; w < logp_W.length; w++) {
      const lp = logp_W[w]!;
      const p = Math.exp(lp);
      out_W[w]! -= mass * p + (p > 0 ? c * p * (lp + entropy) : 0);
    }
  }
  for (const [head, cotangent] of Object.entries(cotangents.heads ?? {})) {
    const values = weights.part(`head.${head}`);
    const rowOf = situation_A.map(({ context }) => values.row(context));
    const out = values.array(into);
    rowOf.forEach((row, a) => {
      out[row]! += cotangent[a]!;
    });
  }
}
