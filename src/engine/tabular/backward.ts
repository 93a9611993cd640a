/** The gradient of a table's logits from the cotangents of its outputs. */
import type { TokenRows } from "../../core/batch.ts";
import type { Cotangents, Outputs, Wanted } from "../../core/outputs.ts";
import { type Situation, situationsOf, type Weights } from "./weights.ts";

/**
 * Adds ∂loss/∂logits (and heads) into the arrays named `into`. With p the distribution of a target's context:
 *
 *     ∂ ln p[i] / ∂z = onehot(i) − p        ∂H / ∂z[j] = −p[j] (ln p[j] + H)
 *
 * and each row that is summed into the logits gets the whole gradient. A term that `Reading` adds for a message is
 * constant: it only changes p.
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
  const rows_A = situation_A.map((situation) => situation.rows.map((row) => table.row(row)));
  const gradient = table.array(into);
  const gradientOf = (row: number): Float64Array =>
    gradient.subarray(row * table.width, (row + 1) * table.width);
  // first sums the cotangents of each situation's distribution, then spreads them over its words once
  const due = new Map<string, { situation: Situation; rows: number[]; mass: number; entropy: number }>();
  situation_A.forEach((situation, a) => {
    const own = due.get(situation.key) ?? { situation, rows: rows_A[a]!, mass: 0, entropy: 0 };
    due.set(situation.key, own);
    const towards = (id: number, c: number): void => {
      if (c === 0 || id < writable) return;
      for (const row of own.rows) gradientOf(row)[id - writable]! += c;
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
  for (const { situation, rows: own, mass, entropy: c } of due.values()) {
    const { logp_W, entropy } = weights.distribution(situation);
    for (const row of own) {
      const out_W = gradientOf(row);
      for (let w = 0; w < logp_W.length; w++) {
        const lp = logp_W[w]!;
        const p = Math.exp(lp);
        out_W[w]! -= mass * p + (p > 0 ? c * p * (lp + entropy) : 0);
      }
    }
  }
  for (const [head, cotangent] of Object.entries(cotangents.heads ?? {})) {
    const values = weights.part(`head.${head}`);
    const rowsOf = situation_A.map((situation) => situation.rows.map((row) => values.row(row)));
    const out = values.array(into);
    rowsOf.forEach((own, a) => {
      for (const row of own) out[row]! += cotangent[a]!;
    });
  }
}
