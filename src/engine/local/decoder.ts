import { input, type Tensor } from "../../tensor/graph.ts";
import { add } from "../../tensor/ops/add.ts";
import { attention } from "../../tensor/ops/attention.ts";
import { concat } from "../../tensor/ops/concat.ts";
import { exp } from "../../tensor/ops/exp.ts";
import { gatherRows } from "../../tensor/ops/gatherRows.ts";
import { logProbability } from "../../tensor/ops/logProbability.ts";
import { logSoftmax } from "../../tensor/ops/logSoftmax.ts";
import { matmul } from "../../tensor/ops/matmul.ts";
import { mul } from "../../tensor/ops/mul.ts";
import { neg } from "../../tensor/ops/neg.ts";
import { packedAttention, packedMask } from "../../tensor/ops/packedAttention.ts";
import { pickMany } from "../../tensor/ops/pickMany.ts";
import { reshape } from "../../tensor/ops/reshape.ts";
import { rmsNorm } from "../../tensor/ops/rmsNorm.ts";
import { rotary } from "../../tensor/ops/rotary.ts";
import { selectRows } from "../../tensor/ops/selectRows.ts";
import { slice } from "../../tensor/ops/slice.ts";
import { split } from "../../tensor/ops/split.ts";
import { sum } from "../../tensor/ops/sum.ts";
import { swiglu } from "../../tensor/ops/swiglu.ts";
import { topIds } from "../../tensor/ops/topIds.ts";
import { transpose } from "../../tensor/ops/transpose.ts";
import type { DecoderConfig } from "./config.ts";
import {
  type Architecture,
  allParameters,
  hasBias,
  isJoined,
  type Layout,
  type Parameter,
  type Projection,
  projectionName,
  stacksOf,
  trainedParameters,
} from "./parameters.ts";

export type Inputs = ReadonlyMap<string, Tensor>;
/** Maps the normed rows of a layer to the attention output of its heads, [rows, heads · headWidth]. */
export type Attend = (layer: number, x: Tensor) => Tensor;

/** Graph inputs for every parameter and stack; a program takes those that it needs. */
export function weightInputs(a: Architecture): Inputs {
  const of = [...allParameters(a), ...stacksOf(a.config)];
  return new Map(of.map((p) => [p.name, input(p.name, p.shape)]));
}

export const weight = (weights: Inputs, name: string): Tensor => weights.get(name)!;

/** x Wᵀ, plus the projection's bias and adapter, if any. */
export function project(a: Architecture, weights: Inputs, layer: number, p: Projection, x: Tensor): Tensor {
  const name = projectionName(layer, p);
  const plain = matmul(x, weight(weights, `${name}.weight`), { transposeB: true });
  const y = hasBias(a.config, p) ? add(plain, weight(weights, `${name}.bias`)) : plain;
  if (!a.adapter?.targets.includes(p)) return y;
  const low = matmul(x, weight(weights, `${name}.lora_A.weight`), { transposeB: true });
  const scale = a.adapter.alpha / a.adapter.rank;
  return add(y, matmul(low, weight(weights, `${name}.lora_B.weight`), { transposeB: true, scale }));
}

/** Queries, keys and values side by side, [rows, (heads + 2 kvHeads) · headWidth]: one product if no adapter separates them. */
export function projectHeads(a: Architecture, weights: Inputs, layer: number, x: Tensor): Tensor | Tensor[] {
  const parts = ["q_proj", "k_proj", "v_proj"] as const;
  if (parts.some((p) => a.adapter?.targets.includes(p))) {
    return parts.map((p) => project(a, weights, layer, p, x));
  }
  const name = `model.layers.${layer}.self_attn.qkv_proj`;
  const y = matmul(x, weight(weights, `${name}.weight`), { transposeB: true });
  return a.config.bias.qkv ? add(y, weight(weights, `${name}.bias`)) : y;
}

/** The inside of a SwiGLU block by one product. */
function joinedInner({ config: c }: Architecture, weights: Inputs, layer: number, x: Tensor): Tensor {
  const both = weight(weights, `model.layers.${layer}.mlp.gate_up_proj.weight`);
  const [gate, up] = split(matmul(x, both, { transposeB: true }), [c.feedForward, c.feedForward], 1);
  return swiglu(gate!, up!);
}

/**
 * The residual stream: layers + 1 tensors [rows, D], starting with the embeddings; the last one is normed.
 * @param select picks the rows that are needed after the attention of the last layer.
 */
export function stack(
  a: Architecture,
  weights: Inputs,
  embedded: Tensor,
  attend: Attend,
  select: (x: Tensor) => Tensor = (x) => x,
  layout: Layout = "apart",
): Tensor[] {
  const c = a.config;
  const states = [embedded];
  let x = embedded;
  for (let i = 0; i < c.layers; i++) {
    const norm = (name: string, of: Tensor): Tensor =>
      rmsNorm(of, weight(weights, `model.layers.${i}.${name}.weight`), c.epsilon);
    const narrow = i === c.layers - 1 ? select : (rows: Tensor): Tensor => rows;
    const heads = narrow(attend(i, norm("input_layernorm", x)));
    x = add(narrow(x), project(a, weights, i, "o_proj", heads));
    const m = norm("post_attention_layernorm", x);
    const inner =
      layout === "joined" && isJoined(a)
        ? joinedInner(a, weights, i, m)
        : swiglu(project(a, weights, i, "gate_proj", m), project(a, weights, i, "up_proj", m));
    x = add(x, project(a, weights, i, "down_proj", inner));
    states.push(x);
  }
  return states.with(-1, rmsNorm(x, weight(weights, "model.norm.weight"), c.epsilon));
}

export const logits = (c: DecoderConfig, weights: Inputs, hidden: Tensor): Tensor =>
  matmul(hidden, weight(weights, c.tied ? "model.embed_tokens.weight" : "lm_head.weight"), {
    transposeB: true,
  });

/** Queries [B, heads, T, headWidth], keys and values [B, kvHeads, T, headWidth] of one layer, with rotary embedding applied. */
export function headsOf(
  a: Architecture,
  weights: Inputs,
  layer: number,
  x: Tensor,
  [B, T]: readonly [number, number],
  angles: { readonly cos: Tensor; readonly sin: Tensor },
): { readonly q: Tensor; readonly k: Tensor; readonly v: Tensor } {
  const { heads, kvHeads, headWidth, qkNorm, unturned, epsilon } = a.config;
  const byHead = (rows: Tensor): Tensor =>
    transpose(reshape(rows, [B, T, rows.shape.at(-1)! / headWidth, headWidth]), [0, 2, 1, 3]);
  const turn = (y: Tensor): Tensor => (unturned.includes(layer) ? y : rotary(y, angles.cos, angles.sin));
  const norm = (y: Tensor, name: string): Tensor =>
    qkNorm ? rmsNorm(y, weight(weights, `model.layers.${layer}.self_attn.${name}.weight`), epsilon) : y;
  const projected = projectHeads(a, weights, layer, x);
  if (Array.isArray(projected)) {
    const [q, k, v] = projected.map(byHead);
    return { q: turn(norm(q!, "q_norm")), k: turn(norm(k!, "k_norm")), v: v! };
  }
  const all = byHead(projected);
  if (qkNorm) {
    const [q, k, v] = split(all, [heads, kvHeads, kvHeads], 1);
    return { q: turn(norm(q!, "q_norm")), k: turn(norm(k!, "k_norm")), v: v! };
  }
  const [qk, v] = split(all, [heads + kvHeads, kvHeads], 1);
  const [q, k] = split(turn(qk!), [heads, kvHeads], 1);
  return { q: q!, k: k!, v: v! };
}

/** Joins the heads' outputs: [B, heads, T, headWidth] to [B · T, heads · headWidth]. */
export const joinHeads = (read: Tensor): Tensor => {
  const [B, H, T, d] = read.shape as [number, number, number, number];
  return reshape(transpose(read, [0, 2, 1, 3]), [B * T, H * d]);
};

/** Longest sequence of which a GPU stores the scores of all pairs: products of matrices are faster than tiles of rows. */
export const longestStored = 512;

/** Causal attention of packed rows. @param end int32 [B, 1, 1, T], the last position that sees each. @param mask the same as numbers. */
export function attendPacked(
  { headWidth }: DecoderConfig,
  layout: Layout,
  end: Tensor,
  mask: Tensor,
): (heads: { readonly q: Tensor; readonly k: Tensor; readonly v: Tensor }) => Tensor {
  const scale = 1 / Math.sqrt(headWidth);
  const inTiles = layout === "joined" && end.shape[3]! > longestStored && headWidth % 4 === 0;
  if (inTiles) return ({ q, k, v }) => joinHeads(packedAttention(q, k, v, end, scale));
  return ({ q, k, v }) => joinHeads(attention(q, k, v, mask, scale));
}

/** Outputs of a scoring graph beside log-probabilities. */
export interface OutputRequest {
  readonly entropy: boolean;
  /** k of the top k; 0: none. */
  readonly topk: number;
  /** Number of given ids per target; 0: none. */
  readonly at: number;
  readonly heads: readonly string[];
  readonly hidden: readonly number[];
}

export interface ScoringGraph {
  readonly weights: Inputs;
  readonly trained: readonly Parameter[];
  /** All other inputs. */
  readonly inputs: readonly Tensor[];
  /** Residual stream at the start, [B · T, D]. */
  readonly embedded: Tensor;
  /** Residual stream after each layer, as {@link stack} gives it: from each, the next follows by one layer. */
  readonly states: readonly Tensor[];
  /** Differentiable outputs by name: `logp` [A], `entropy` [A], `topk` [A, k], `at` [A, width], `head.…` [A], `hidden.…` [A, D]. */
  readonly outputs: Readonly<Record<string, Tensor>>;
  /** `topk.ids`, int32 [A, k]. */
  readonly fixed: Readonly<Record<string, Tensor>>;
}

/** What is read off the scores of all tokens at some targets, by name. `topk.ids` has no gradient. */
function readScores(
  scores: Tensor,
  targets: Tensor,
  atIds: Tensor,
  wanted: OutputRequest,
): Readonly<Record<string, Tensor>> {
  const all = logSoftmax(scores);
  const ids = wanted.topk > 0 ? topIds(all, wanted.topk) : undefined;
  return {
    logp: logProbability(scores, targets),
    ...(wanted.entropy ? { entropy: neg(sum(mul(exp(all), all), [-1])) } : {}),
    ...(ids ? { topk: pickMany(all, ids), "topk.ids": ids } : {}),
    ...(wanted.at > 0 ? { at: pickMany(all, atIds) } : {}),
  };
}

/** The same in parts of so many targets, one after another: the scores of one part at a time are in memory. */
function readInParts(
  scoresOf: (last: Tensor) => Tensor,
  [last, targets, atIds]: readonly [Tensor, Tensor, Tensor],
  wanted: OutputRequest,
  atOnce: number,
): Readonly<Record<string, Tensor>> {
  const A = targets.shape[0]!;
  const parts = Array.from({ length: Math.ceil(A / atOnce) }, (_, i) => {
    const cut = (x: Tensor): Tensor => slice(x, 0, i * atOnce, Math.min(A, (i + 1) * atOnce));
    return readScores(scoresOf(cut(last)), cut(targets), cut(atIds), wanted);
  });
  const [first] = parts;
  if (parts.length === 1) return first!;
  return Object.fromEntries(
    Object.keys(first!).map((name) => [
      name,
      concat(
        parts.map((part) => part[name]!),
        0,
      ),
    ]),
  );
}

/**
 * Scores A targets in B packed sequences of T positions. A sequence may hold many rows: position t attends to position s
 * when s ≤ t ≤ end[s], so that rows that share a prompt follow it one after the other without attending to each other.
 *
 * Inputs: `tokens` int32 [B · T]; `end` int32 [B, 1, 1, T]; `cos` and `sin` [B, 1, T, headWidth / 2] of the tokens'
 * positions; `context` int32 [A], the distinct positions at which targets are predicted; `back` int32 [B · T], the target
 * of each position, or A; `targets` int32 [A]; `at.ids` int32 [A, width].
 * @param atOnce targets whose scores of all tokens are in memory at a time. Default: all.
 */
export function scoringGraph(
  a: Architecture,
  B: number,
  T: number,
  A: number,
  wanted: OutputRequest,
  layout: Layout = "apart",
  atOnce = A,
): ScoringGraph {
  const c = a.config;
  const weights = weightInputs(a);
  const tokens = input("tokens", [B * T], "int32");
  const end = input("end", [B, 1, 1, T], "int32");
  const angles = {
    cos: input("cos", [B, 1, T, c.headWidth / 2]),
    sin: input("sin", [B, 1, T, c.headWidth / 2]),
  };
  const context = input("context", [A], "int32");
  const back = input("back", [B * T], "int32");
  const targets = input("targets", [A], "int32");
  const atIds = input("at.ids", [A, Math.max(1, wanted.at)], "int32");

  const readHeads = attendPacked(c, layout, end, packedMask(end));
  const select = (x: Tensor): Tensor => selectRows(x, context, back);
  const embedded = gatherRows(weight(weights, "model.embed_tokens.weight"), tokens);
  const states = stack(
    a,
    weights,
    embedded,
    (layer, x) => readHeads(headsOf(a, weights, layer, x, [B, T], angles)),
    select,
    layout,
  );
  const last = states.at(-1)!;
  const { "topk.ids": ids, ...read } = readInParts(
    (x) => logits(c, weights, x),
    [last, targets, atIds],
    wanted,
    atOnce,
  );
  const head = (name: string): Tensor => {
    const w = weight(weights, `value_heads.${name}.weight`);
    const bias = weight(weights, `value_heads.${name}.bias`);
    return reshape(add(matmul(last, w, { transposeB: true }), bias), [A]);
  };
  return {
    weights,
    trained: trainedParameters(a),
    inputs: [tokens, end, angles.cos, angles.sin, context, back, targets, atIds],
    embedded,
    states,
    outputs: {
      ...read,
      ...Object.fromEntries(wanted.heads.map((name) => [`head.${name}`, head(name)])),
      ...Object.fromEntries(
        wanted.hidden.map((layer) => [`hidden.${layer}`, layer === c.layers ? last : select(states[layer]!)]),
      ),
    },
    fixed: ids ? { "topk.ids": ids } : {},
  };
}
