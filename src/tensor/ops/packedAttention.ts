import { TensorError } from "../error.ts";
import { constant, emitValues, node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { evaluate } from "../reference.ts";
import { sameShape, show } from "../shape.ts";
import type { AttentionPart } from "../wgsl/lowering.ts";
import { add } from "./add.ts";
import { attention } from "./attention.ts";
import { exp } from "./exp.ts";
import { greaterEqual } from "./greaterEqual.ts";
import { lessEqual } from "./lessEqual.ts";
import { logSumExp } from "./logSumExp.ts";
import { matmul } from "./matmul.ts";
import { mul } from "./mul.ts";
import { reshape } from "./reshape.ts";
import { sub } from "./sub.ts";
import { sum } from "./sum.ts";
import { where } from "./where.ts";

interface Attributes {
  readonly scale: number;
}

/** Added to the scores of keys that a query does not see. */
export const masked = -1e9;

/** 0, 1 … T − 1, int32 [T]. */
export const places = (T: number): Tensor =>
  constant(
    Int32Array.from({ length: T }, (_, t) => t),
    [T],
    "int32",
  );

/** The additive causal mask, [T, T]. */
export const causal = (T: number): Tensor =>
  where(lessEqual(places(T), reshape(places(T), [T, 1])), constant(0, [T, T]), masked);

/** The additive mask of packed rows, [B, 1, T, T]: position t sees position s when s ≤ t ≤ end[s]. @param end int32 [B, 1, 1, T]. */
export function packedMask(end: Tensor): Tensor {
  const T = end.shape[3]!;
  return where(greaterEqual(end, reshape(places(T), [T, 1])), causal(T), masked);
}

/** The queries of all heads that share a key head, one after another. */
const shared = (x: Tensor, k: Tensor): Tensor => {
  const [B, H, T, d] = x.shape as [number, number, number, number];
  const G = k.shape[1]!;
  return reshape(x, [B, G, (H / G) * T, d]);
};

/** scale · q kᵀ + mask, [B, H, T, T]. */
function scoresOf({ inputs: [q, k, end], attributes: { scale } }: Tensor<Attributes>): Tensor {
  const [B, H, T] = q!.shape as [number, number, number];
  const products = matmul(shared(q!, k!), k!, { transposeB: true, scale });
  return add(reshape(products, [B, H, T, T]), packedMask(end!));
}

/** The weights, [B, H, T, T]. Inputs: q, k, end, g, norm and more. */
const weightsOf = (y: Tensor<Attributes>): Tensor => exp(sub(scoresOf(y), y.inputs[4]!));

/** The gradient of the scores, with the queries of a key head together. Inputs: q, k, end, g, norm, v, taken. */
function scoreGradient(y: Tensor<Attributes>): Tensor {
  const [, k, , g, , v, taken] = y.inputs as readonly Tensor[];
  const P = weightsOf(y);
  const dP = reshape(matmul(shared(g!, k!), v!, { transposeB: true }), P.shape);
  return shared(mul(P, sub(dP, taken!)), k!);
}

/** By plain operations, which CPUs run: they store the scores. */
const plain: Readonly<Record<AttentionPart, (y: Tensor<Attributes>) => Tensor>> = {
  read: (y) => {
    const [q, k, end, v] = y.inputs as [Tensor, Tensor, Tensor, Tensor];
    return attention(q, k, v, packedMask(end), y.attributes.scale);
  },
  norm: (y) => logSumExp(scoresOf(y)),
  dq: (y) => {
    const k = y.inputs[1]!;
    return reshape(matmul(scoreGradient(y), k, { scale: y.attributes.scale }), y.shape);
  },
  dk: (y) => {
    const [q, k] = y.inputs as [Tensor, Tensor];
    return matmul(scoreGradient(y), shared(q, k), { transposeA: true, scale: y.attributes.scale });
  },
  dv: (y) => {
    const [, k, , g] = y.inputs as readonly Tensor[];
    return matmul(shared(weightsOf(y), k!), shared(g!, k!), { transposeA: true });
  },
};

const operationOf = (
  part: AttentionPart,
  gradient: Operation<Attributes>["gradient"],
): Operation<Attributes> => ({
  name: `packedAttention ${part}`,
  gradient,
  onnx: (y, inputs, emit) => {
    const names = new Map(y.inputs.map((x, i) => [x, inputs[i]!]));
    const value = plain[part](y);
    emitValues([value], names, emit);
    return names.get(value)!;
  },
  wgsl: { kind: "packedAttention", part, scale: (y) => y.attributes.scale },
  reference: (y, inputs) => evaluate([plain[part](y)], new Map(y.inputs.map((x, i) => [x, inputs[i]!])))[0]!,
});

const noSecond: Operation<Attributes>["gradient"] = () => {
  throw new TensorError("packedAttention", {
    got: "a second derivative",
    expected: "first derivatives only",
    fix: "Write attention with matmul and softmax.",
  });
};

const [norm, dq, dk, dv] = (["norm", "dq", "dk", "dv"] as const).map((part) => operationOf(part, noSecond));

const read = operationOf("read", (y, g) => {
  const [q, k, end, v] = y.inputs as [Tensor, Tensor, Tensor, Tensor];
  const [B, H, T] = q.shape as [number, number, number];
  const whole = node(norm!, [q, k, end], y.attributes, [B, H, T, 1]);
  // what the gradient of a softmax subtracts: ⟨g, y⟩ of each query
  const taken = reshape(sum(mul(g, y), [-1]), [B, H, T, 1]);
  const weighed = [q, k, end, g, whole];
  return [
    node(dq!, [...weighed, v, taken], y.attributes, q.shape),
    node(dk!, [...weighed, v, taken], y.attributes, k.shape),
    undefined,
    node(dv!, weighed, y.attributes, v.shape),
  ];
});

/**
 * Attention within packed rows, softmax(scale · q kᵀ) v over the positions that each position sees: t sees s when
 * s ≤ t ≤ end[s]. On a GPU the scores are never stored, neither here nor for the gradient, which computes them again tile by
 * tile, as in "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness".
 * @param q shape [B, H, T, d], d a multiple of 4. @param k shape [B, G, T, d], G dividing H: head h uses key head ⌊h · G / H⌋.
 * @param v as k. @param end int32 [B, 1, 1, T], end[s] ≥ s. @returns shape [B, H, T, d].
 */
export function packedAttention(q: Tensor, k: Tensor, v: Tensor, end: Tensor, scale: number): Tensor {
  for (const [what, x] of Object.entries({ q, k, v })) requireDType("packedAttention", what, x, "float32");
  requireDType("packedAttention", "end", end, "int32");
  const [B, H, T, d] = q.shape as [number, number, number, number];
  const G = k.shape[1]!;
  const fits =
    q.shape.length === 4 &&
    d % 4 === 0 &&
    sameShape(k.shape, [B, G, T, d]) &&
    sameShape(v.shape, k.shape) &&
    H % G === 0 &&
    sameShape(end.shape, [B, 1, 1, T]);
  if (!fits) {
    throw new TensorError("packedAttention", {
      got: `q ${show(q.shape)}, k ${show(k.shape)}, v ${show(v.shape)}, end ${show(end.shape)}`,
      expected: "q [B, H, T, d], k and v [B, G, T, d] with G dividing H and 4 dividing d, end [B, 1, 1, T]",
      fix: "Use attention for other masks and widths.",
    });
  }
  return node(read, [q, k, end, v], { scale }, q.shape);
}
