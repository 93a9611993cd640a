/** A Llama-style decoder as graphs: whole sequences for training and prefill, one token against a cache for decoding. */
import {
  add,
  constant,
  exp,
  gatherRows,
  input,
  logSoftmax,
  matmul,
  mul,
  neg,
  pick,
  reshape,
  rmsNorm,
  rotary,
  silu,
  softmax,
  sum,
  type Tensor,
  transpose,
} from "../../tensor/index.ts";
import type { DecoderConfig } from "./config.ts";
import { parametersOf } from "./parameters.ts";

export type Inputs = ReadonlyMap<string, Tensor>;
/** From the projections of one layer, [rows, heads · headWidth] each, to what its heads read, [rows, heads · headWidth]. */
export type Attend = (layer: number, q: Tensor, k: Tensor, v: Tensor) => Tensor;

/** One graph input per parameter, under its own name. */
export function weightInputs(c: DecoderConfig): Inputs {
  return new Map(parametersOf(c).map((p) => [p.name, input(p.name, p.shape)]));
}

export const weight = (weights: Inputs, name: string): Tensor => weights.get(name)!;
const linear = (x: Tensor, w: Tensor): Tensor => matmul(x, w, { transposeB: true });

/** Residual stream after all layers and the last norm, [rows, D]. */
export function stack(c: DecoderConfig, weights: Inputs, embedded: Tensor, attend: Attend): Tensor {
  let x = embedded;
  for (let i = 0; i < c.layers; i++) {
    const w = (name: string): Tensor => weight(weights, `model.layers.${i}.${name}.weight`);
    const h = rmsNorm(x, w("input_layernorm"), c.epsilon);
    const heads = attend(
      i,
      linear(h, w("self_attn.q_proj")),
      linear(h, w("self_attn.k_proj")),
      linear(h, w("self_attn.v_proj")),
    );
    x = add(x, linear(heads, w("self_attn.o_proj")));
    const m = rmsNorm(x, w("post_attention_layernorm"), c.epsilon);
    const gated = mul(silu(linear(m, w("mlp.gate_proj"))), linear(m, w("mlp.up_proj")));
    x = add(x, linear(gated, w("mlp.down_proj")));
  }
  return rmsNorm(x, weight(weights, "model.norm.weight"), c.epsilon);
}

export function logits(c: DecoderConfig, weights: Inputs, hidden: Tensor): Tensor {
  return linear(hidden, weight(weights, c.tied ? "model.embed_tokens.weight" : "lm_head.weight"));
}

/** Angles of rotary positions 0 … count − 1, [count, headWidth / 2]. */
export function rotaryTables(c: DecoderConfig, count: number): { cos: Tensor; sin: Tensor } {
  const half = c.headWidth / 2;
  const angle = (i: number): number =>
    Math.floor(i / half) * c.ropeTheta ** (-(2 * (i % half)) / c.headWidth);
  const table = (f: (x: number) => number): Tensor =>
    constant(
      Float32Array.from({ length: count * half }, (_, i) => f(angle(i))),
      [count, half],
    );
  return { cos: table(Math.cos), sin: table(Math.sin) };
}

export const masked = -1e9;

/** Causal attention of whole rows. Rows are padded on the right, so no real token sees a pad. */
export function attendWhole(
  c: DecoderConfig,
  B: number,
  T: number,
  keep?: (layer: number, k: Tensor, v: Tensor) => void,
): Attend {
  const { cos, sin } = rotaryTables(c, T);
  const g = c.heads / c.kvHeads;
  const mask = constant(
    Float32Array.from({ length: g * T * T }, (_, i) => (i % T <= Math.floor(i / T) % T ? 0 : masked)),
    [g * T, T],
  );
  return (layer, q, k, v) => {
    const kv = (x: Tensor): Tensor => transpose(reshape(x, [B, T, c.kvHeads, c.headWidth]), [0, 2, 1, 3]);
    const keys = rotary(kv(k), cos, sin);
    const values = kv(v);
    keep?.(layer, keys, values);
    const split = transpose(reshape(q, [B, T, c.kvHeads, g, c.headWidth]), [0, 2, 3, 1, 4]);
    const queries = mul(rotary(split, cos, sin), 1 / Math.sqrt(c.headWidth));
    const scores = matmul(reshape(queries, [B, c.kvHeads, g * T, c.headWidth]), keys, { transposeB: true });
    const read = matmul(softmax(add(scores, mask)), values);
    const joined = transpose(reshape(read, [B, c.kvHeads, g, T, c.headWidth]), [0, 3, 1, 2, 4]);
    return reshape(joined, [B * T, c.heads * c.headWidth]);
  };
}

export interface TrainingGraph {
  readonly weights: Inputs;
  /** int32 [B · T], row-major, padded on the right. */
  readonly tokens: Tensor;
  /** int32 [A]: which of the B · T places each target is predicted at. */
  readonly context: Tensor;
  /** int32 [A]: the target ids. */
  readonly targets: Tensor;
  readonly logp: Tensor;
  readonly entropy: Tensor;
}

/** Log-probabilities of A targets, and entropies of their distributions, over B rows of T tokens. */
export function trainingGraph(c: DecoderConfig, B: number, T: number, A: number): TrainingGraph {
  const weights = weightInputs(c);
  const tokens = input("tokens", [B * T], "int32");
  const context = input("context", [A], "int32");
  const targets = input("targets", [A], "int32");
  const hidden = stack(
    c,
    weights,
    gatherRows(weight(weights, "model.embed_tokens.weight"), tokens),
    attendWhole(c, B, T),
  );
  const all = logSoftmax(logits(c, weights, gatherRows(hidden, context)));
  return {
    weights,
    tokens,
    context,
    targets,
    logp: pick(all, targets),
    entropy: neg(sum(mul(exp(all), all), [-1])),
  };
}
