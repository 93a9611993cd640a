/** How far log-probabilities of two sides lie apart. */

import { pairRows } from "../../src/common/tokens/pack.ts";
import type { Model } from "../../src/core/model.ts";

/** In nats, by row, of every token but the first. */
export type Logps = readonly (readonly number[])[];

/** As our engine says them. */
export async function logpsOf(model: Model, rows: readonly (readonly number[])[]): Promise<Logps> {
  const pairs = rows.map((row) => ({
    prompt: Int32Array.from(row.slice(0, 1)),
    target: Int32Array.from(row.slice(1)),
  }));
  const { logp } = await model.score(pairRows(pairs));
  const said = [...logp];
  return rows.map((row) => said.splice(0, row.length - 1));
}

/** Largest distance of two sides on one token, in nats. */
export const apart = (a: Logps, b: Logps): number =>
  Math.max(...a.flatMap((row, r) => row.map((x, i) => Math.abs(x - (b[r]?.[i] ?? Number.NaN)))));
