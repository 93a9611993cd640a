// A small Llama-style layer with embedding and tied output: the graph that the tests' programs compute.
import { constant, input, type Tensor } from "../../src/tensor/graph.ts";
import * as t from "../../src/tensor/index.ts";
import { sizeOf } from "../../src/tensor/shape.ts";
import { feedFor, stream, uniform } from "./support.ts";

const [B, T, H, hd, V] = [2, 5, 2, 4, 11];
const D = H * hd;
const F = 12;

export const parameters = {
  embedding: input("embedding", [V, D]),
  norm: input("norm", [D]),
  qkv: input("qkv", [D, 3 * D]),
  out: input("out", [D, D]),
  up: input("up", [D, 2 * F]),
  down: input("down", [F, D]),
};
export const ids = input("ids", [B, T], "int32");
export const targets = input("targets", [B, T], "int32");
export const cotangent = input("cotangent", [B, T]);

const angles = Array.from(
  { length: (T * hd) / 2 },
  (_, i) => Math.floor(i / (hd / 2)) * 10 ** -(i % (hd / 2)),
);
const cos = constant(angles.map(Math.cos), [T, hd / 2]);
const sin = constant(angles.map(Math.sin), [T, hd / 2]);
const mask = constant(
  Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0)),
  [T, T],
);

function attention(x: Tensor): Tensor {
  const heads = t
    .split(t.matmul(x, parameters.qkv), [D, D, D], -1)
    .map((p) => t.transpose(t.reshape(p, [B, T, H, hd]), [0, 2, 1, 3]));
  const [q, k] = [t.rotary(heads[0]!, cos, sin), t.rotary(heads[1]!, cos, sin)];
  const scores = t.add(t.mul(t.matmul(q, k, { transposeB: true }), 1 / Math.sqrt(hd)), mask);
  const mixed = t.matmul(t.softmax(scores), heads[2]!);
  return t.matmul(t.reshape(t.transpose(mixed, [0, 2, 1, 3]), [B, T, D]), parameters.out);
}

function gated(x: Tensor): Tensor {
  const [gate, up] = t.split(t.matmul(x, parameters.up), [F, F], -1);
  return t.matmul(t.mul(t.silu(gate!), up!), parameters.down);
}

function decoder(): Tensor {
  let x = t.gatherRows(parameters.embedding, ids);
  x = t.add(x, attention(t.rmsNorm(x, parameters.norm, 1e-5)));
  x = t.add(x, gated(t.rmsNorm(x, parameters.norm, 1e-5)));
  const logits = t.matmul(t.rmsNorm(x, parameters.norm, 1e-5), parameters.embedding, { transposeB: true });
  return t.pick(t.logSoftmax(logits), targets);
}

/** Log-probability of each target, shape [B, T]. */
export const logp = decoder();
export const wrt = Object.values(parameters);
export const gradients = t.differentiate([{ of: logp, cotangent }], wrt);
export const leaves = [...wrt, ids, targets, cotangent];

const token = stream(5);
/** Feeds for every leaf. */
export const data: ReadonlyMap<Tensor, Float64Array> = new Map(
  leaves.map((leaf, i) => [
    leaf,
    leaf.dtype === "int32"
      ? Float64Array.from({ length: B * T }, () => Math.floor(token() * V))
      : uniform(i + 50, sizeOf(leaf.shape), -0.7, 0.7).map(Math.fround),
  ]),
);
export const feeds = Object.fromEntries(leaves.map((leaf) => [leaf.name!, feedFor(leaf, data.get(leaf)!)]));
