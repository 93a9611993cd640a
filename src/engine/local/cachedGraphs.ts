import { constant, input, type Tensor } from "../../tensor/graph.ts";
import { attention } from "../../tensor/ops/attention.ts";
import { drawIds } from "../../tensor/ops/drawIds.ts";
import { equal } from "../../tensor/ops/equal.ts";
import { exp } from "../../tensor/ops/exp.ts";
import { gatherRows } from "../../tensor/ops/gatherRows.ts";
import { lessEqual } from "../../tensor/ops/lessEqual.ts";
import { logProbability } from "../../tensor/ops/logProbability.ts";
import { logSoftmax } from "../../tensor/ops/logSoftmax.ts";
import { matmul } from "../../tensor/ops/matmul.ts";
import { mul } from "../../tensor/ops/mul.ts";
import { neg } from "../../tensor/ops/neg.ts";
import { causal, masked, places } from "../../tensor/ops/packedAttention.ts";
import { reshape } from "../../tensor/ops/reshape.ts";
import { scatterRows } from "../../tensor/ops/scatterRows.ts";
import { softmax } from "../../tensor/ops/softmax.ts";
import { sum } from "../../tensor/ops/sum.ts";
import { topIds } from "../../tensor/ops/topIds.ts";
import { where } from "../../tensor/ops/where.ts";
import { scoredRows } from "./batchSizes.ts";
import {
  type Attend,
  attendPacked,
  headsOf,
  joinHeads,
  logits,
  stack,
  weight,
  weightInputs,
} from "./decoder.ts";
import type { Architecture, Layout } from "./parameters.ts";
import { rotaryTables } from "./rotaryTables.ts";

export interface CachedGraph {
  readonly inputs: readonly Tensor[];
  readonly outputs: Readonly<Record<string, Tensor>>;
}

export const keyName = (layer: number): string => `key.${layer}`;
export const valueName = (layer: number): string => `value.${layer}`;

/** From logits [R, V]: the logits, `p` = softmax [R, V], and its `entropy` in nats [R]. */
export function scores(logits: Tensor): Record<string, Tensor> {
  const [R, V] = logits.shape as [number, number];
  const p = softmax(logits);
  const surprise = neg(matmul(reshape(p, [R, 1, V]), reshape(logSoftmax(logits), [R, V, 1])));
  return { logits, p, entropy: reshape(surprise, [R]) };
}

/** How each row draws its token, where the device draws it. */
export interface Drawing {
  /** Uniform in [0, 1), [R]. */
  readonly u: Tensor;
  /** 1 / temperature, [R]. */
  readonly sharpness: Tensor;
  /** 1 where the most probable token is taken, int32 [R]. */
  readonly greedy: Tensor;
}

const drawingInputs = (R: number): Drawing => ({
  u: input("u", [R]),
  sharpness: input("sharpness", [R]),
  greedy: input("greedy", [R], "int32"),
});

/** What a program returns of the logits [R, V]. */
export type ReadLogits = (logits: Tensor, drawing: Drawing) => Record<string, Tensor>;

/**
 * The tokens that rows draw: `ids` int32 [R]; `logp`, ln p at temperature 1 [R]; `behaviour`, ln p under the distribution
 * sampled from [R]; `entropy` of p in nats [R].
 */
export const drawnTokens: ReadLogits = (logits, { u, sharpness, greedy }) => {
  const [R] = logits.shape as [number, number];
  const sharp = mul(logits, reshape(sharpness, [R, 1]));
  const drawn = drawIds(softmax(sharp), u);
  const best = reshape(topIds(logits, 1), [R]);
  const ids = where(equal(greedy, 1), best, drawn);
  const all = logSoftmax(logits);
  return {
    ids,
    logp: logProbability(logits, ids),
    behaviour: logProbability(sharp, ids),
    entropy: neg(sum(mul(exp(all), all), [-1])),
  };
};

/**
 * `scores` after each of R positions of B prompts of up to T tokens, and the keys and values of all positions.
 * Inputs: `tokens` int32 [B · T], padded on the right; `last` int32 [R], the positions.
 */
export function prefillGraph(
  a: Architecture,
  B: number,
  T: number,
  R = scoredRows(B),
  read: ReadLogits = scores,
  layout: Layout = "apart",
): CachedGraph {
  const c = a.config;
  const weights = weightInputs(a);
  const tokens = input("tokens", [B * T], "int32");
  const last = input("last", [R], "int32");
  const kept: Record<string, Tensor> = {};
  const angles = rotaryTables(c, T);
  const end = constant(T - 1, [B, 1, 1, T], "int32");
  const readHeads = attendPacked(c, layout, end, reshape(causal(T), [1, 1, T, T]));
  const attend: Attend = (layer, x) => {
    const heads = headsOf(a, weights, layer, x, [B, T], angles);
    kept[keyName(layer)] = heads.k;
    kept[valueName(layer)] = heads.v;
    return readHeads(heads);
  };
  const states = stack(
    a,
    weights,
    gatherRows(weight(weights, "model.embed_tokens.weight"), tokens),
    attend,
    (x) => gatherRows(x, last),
    layout,
  );
  const drawing = drawingInputs(R);
  const outputs = { ...read(logits(c, weights, states.at(-1)!), drawing), ...kept };
  return {
    inputs: [...weights.values(), tokens, last, drawing.u, drawing.sharpness, drawing.greedy],
    outputs,
  };
}

/** `scores` after one more token in each of B rows whose caches hold S positions: see `continuedGraph`. */
export const decodeGraph = (
  a: Architecture,
  B: number,
  S: number,
  read: ReadLogits = scores,
  layout: Layout = "apart",
): CachedGraph => continuedGraph(a, [B, 1, S], (x) => x, read, layout);

/**
 * `scores` after each of R positions of a piece of T tokens, which continues one row whose cache holds S positions: see
 * `continuedGraph`. Further input: `last` int32 [R], the positions within the piece.
 */
export function pieceGraph(a: Architecture, T: number, S: number): CachedGraph {
  const last = input("last", [scoredRows(1)], "int32");
  const { inputs, outputs } = continuedGraph(a, [1, T, S], (x) => gatherRows(x, last), scores, "apart");
  return { inputs: [...inputs, last], outputs };
}

/**
 * T more tokens in each of B rows whose caches hold S positions. The caches are updated in place: write the output
 * `‹cache›.next` into the array that is fed as `‹cache›`.
 * Inputs: `tokens` and their `position` in their rows, int32 [B · T]; `place` int32 [B, kvHeads, T, 3], the (row, head,
 * position) of each new key and value; the caches, [B, kvHeads, S, headWidth].
 * @param select picks the positions that are scored.
 */
function continuedGraph(
  a: Architecture,
  [B, T, S]: readonly [number, number, number],
  select: (x: Tensor) => Tensor,
  read: ReadLogits,
  layout: Layout,
): CachedGraph {
  const c = a.config;
  const weights = weightInputs(a);
  const tokens = input("tokens", [B * T], "int32");
  const position = input("position", [B * T], "int32");
  const tables = rotaryTables(c, S);
  const angles = (table: Tensor): Tensor => reshape(gatherRows(table, position), [B, 1, T, c.headWidth / 2]);
  const turned = { cos: angles(tables.cos), sin: angles(tables.sin) };
  const seen = lessEqual(places(S), reshape(position, [B, 1, T, 1]));
  const mask = where(seen, constant(0, [S]), masked);
  const place = input("place", [B, c.kvHeads, T, 3], "int32");
  const inputs: Tensor[] = [...weights.values(), tokens, position, place];
  const next: Record<string, Tensor> = {};
  const cached = (name: string, row: Tensor): Tensor => {
    const cache = input(name, [B, c.kvHeads, S, c.headWidth]);
    inputs.push(cache);
    const written = scatterRows(cache, place, row);
    next[`${name}.next`] = written;
    return written;
  };
  const attend: Attend = (layer, x) => {
    const { q, k, v } = headsOf(a, weights, layer, x, [B, T], turned);
    const keys = cached(keyName(layer), k);
    const values = cached(valueName(layer), v);
    // scaled beforehand: ONNX Runtime's fast product of one row does not apply a scale
    return joinHeads(attention(mul(q, 1 / Math.sqrt(c.headWidth)), keys, values, mask, 1));
  };
  const embedded = gatherRows(weight(weights, "model.embed_tokens.weight"), tokens);
  const states = stack(a, weights, embedded, attend, select, layout);
  const drawing = drawingInputs(B);
  inputs.push(drawing.u, drawing.sharpness, drawing.greedy);
  return { inputs, outputs: { ...read(logits(c, weights, states.at(-1)!), drawing), ...next } };
}
