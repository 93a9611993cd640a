/** Graphs that sample: whole prompts whose keys and values are kept, then one token at a time against that cache. */
import {
  attention,
  constant,
  gatherRows,
  input,
  lessEqual,
  matmul,
  mul,
  reshape,
  scatterRows,
  softmax,
  type Tensor,
  where,
} from "../../tensor/index.ts";
import { type Attend, headsOf, joinHeads, logits, masked, stack, weight, weightInputs } from "./decoder.ts";
import type { Architecture } from "./parameters.ts";
import { rotaryTables } from "./rotary-tables.ts";

export interface CachedGraph {
  readonly inputs: readonly Tensor[];
  readonly outputs: Readonly<Record<string, Tensor>>;
}

export const keyName = (layer: number): string => `key.${layer}`;
export const valueName = (layer: number): string => `value.${layer}`;

/** Logits after the last token of each of B prompts of up to T tokens, and the keys and values of all of them. */
export function prefillGraph(a: Architecture, B: number, T: number): CachedGraph {
  const c = a.config;
  const weights = weightInputs(a);
  const tokens = input("tokens", [B * T], "int32");
  const last = input("last", [B], "int32");
  const outputs: Record<string, Tensor> = {};
  const angles = rotaryTables(c, T);
  const mask = constant(
    Float32Array.from({ length: T * T }, (_, i) => (i % T <= Math.floor(i / T) ? 0 : masked)),
    [1, 1, T, T],
  );
  const attend: Attend = (layer, x) => {
    const { q, k, v } = headsOf(a, weights, layer, x, [B, T], angles);
    outputs[keyName(layer)] = k;
    outputs[valueName(layer)] = v;
    return joinHeads(attention(q, k, v, mask, 1 / Math.sqrt(c.headWidth)));
  };
  const states = stack(
    a,
    weights,
    gatherRows(weight(weights, "model.embed_tokens.weight"), tokens),
    attend,
    (x) => gatherRows(x, last),
  );
  outputs.logits = logits(c, weights, states.at(-1)!);
  return { inputs: [...weights.values(), tokens, last], outputs };
}

/**
 * Logits after one more token in each of B rows whose caches hold S places. The caches are updated in place:
 * the feed `place` [B, kvHeads, 3] says (row, head, position) for each new key and value.
 */
export function decodeGraph(a: Architecture, B: number, S: number): CachedGraph {
  const c = a.config;
  const weights = weightInputs(a);
  const tokens = input("tokens", [B], "int32");
  const position = input("position", [B], "int32");
  const g = c.heads / c.kvHeads;
  const tables = rotaryTables(c, S);
  const angles = (table: Tensor): Tensor => reshape(gatherRows(table, position), [B, 1, 1, c.headWidth / 2]);
  const turned = { cos: angles(tables.cos), sin: angles(tables.sin) };
  const places = constant(
    Int32Array.from({ length: S }, (_, s) => s),
    [S],
    "int32",
  );
  const seen = lessEqual(places, reshape(position, [B, 1, 1, 1]));
  const place = input("place", [B, c.kvHeads, 3], "int32");
  const inputs: Tensor[] = [...weights.values(), tokens, position, place];
  const outputs: Record<string, Tensor> = {};
  const cached = (name: string, row: Tensor): Tensor => {
    const cache = input(name, [B, c.kvHeads, S, c.headWidth]);
    inputs.push(cache);
    const next = scatterRows(cache, place, reshape(row, [B, c.kvHeads, c.headWidth]));
    outputs[`${name}.next`] = next;
    return next;
  };
  const attend: Attend = (layer, x) => {
    const { q, k, v } = headsOf(a, weights, layer, x, [B, 1], turned);
    const queries = reshape(q, [B, c.kvHeads, g, c.headWidth]);
    const keys = cached(keyName(layer), k);
    const values = cached(valueName(layer), v);
    const scores = mul(matmul(queries, keys, { transposeB: true }), 1 / Math.sqrt(c.headWidth));
    const read = matmul(softmax(where(seen, scores, masked)), values);
    return reshape(read, [B, c.heads * c.headWidth]);
  };
  const states = stack(a, weights, gatherRows(weight(weights, "model.embed_tokens.weight"), tokens), attend);
  outputs.logits = logits(c, weights, states.at(-1)!);
  return { inputs, outputs };
}
