import { TensorError } from "../error.ts";
import { constant, node, type Operation, requireDType, type Tensor } from "../graph.ts";
import type { Emit } from "../onnx.ts";
import { broadcastShapes, expand, type Shape, sameShape, show, sizeOf } from "../shape.ts";
import { add } from "./add.ts";
import { matmul } from "./matmul.ts";
import { mul } from "./mul.ts";
import { reshape } from "./reshape.ts";
import { softmax } from "./softmax.ts";
import { sub } from "./sub.ts";

interface Attributes {
  readonly scale: number;
}

/** Both results of one ONNX node: the heads' output, and the attention weights. */
function emitBoth(y: Tensor<Attributes>, inputs: readonly string[], emit: Emit): readonly [string, string] {
  const [read, , , weights] = emit.nodes("Attention", inputs, 4, {
    scale: { float: y.attributes.scale },
    qk_matmul_output_mode: { int: 3 },
  });
  return [read!, weights!];
}

/** Softmax weights in float64, [B, H, S, T]. */
function weightsOf(y: Tensor<Attributes>, [q, k, , mask]: readonly Float64Array[]): Float64Array {
  const [B, H, S, d] = y.inputs[0]!.shape as [number, number, number, number];
  const [, G, T] = y.inputs[1]!.shape as [number, number, number];
  const added = expand(mask!, y.inputs[3]!.shape, [B, H, S, T]);
  const result = new Float64Array(B * H * S * T);
  for (let row = 0; row < B * H * S; row++) {
    const b = Math.floor(row / (H * S));
    const h = Math.floor(row / S) % H;
    const keys = (b * G + Math.floor(h / (H / G))) * T * d;
    const scores = Array.from({ length: T }, (_, t) => {
      let total = 0;
      for (let i = 0; i < d; i++) total += q![row * d + i]! * k![keys + t * d + i]!;
      return total * y.attributes.scale + added[row * T + t]!;
    });
    const top = Math.max(...scores);
    const whole = scores.reduce((total, s) => total + Math.exp(s - top), 0);
    for (let t = 0; t < T; t++) result[row * T + t] = Math.exp(scores[t]! - top) / whole;
  }
  return result;
}

/** The weights by plain operations. Queries of the heads that share a key head are stacked. */
function softmaxOfScores(y: Tensor<Attributes>): Tensor {
  const [q, k, , mask] = y.inputs as [Tensor, Tensor, Tensor, Tensor];
  const [B, H, S, d] = q.shape as [number, number, number, number];
  const [, G] = k.shape as [number, number];
  const scores = matmul(reshape(q, [B, G, (H / G) * S, d]), k, {
    transposeB: true,
    scale: y.attributes.scale,
  });
  return softmax(add(reshape(scores, y.shape), mask));
}

/** Most keys whose weights one WGSL workgroup holds in its own memory. */
const mostAtOnce = 2048;

/** Attention of one query per head, as when a reply is sampled. Made by the WGSL planner only. */
const once: Operation<Attributes> = {
  name: "attendOnce",
  gradient: () => [],
  onnx: (y, inputs, emit) => emitBoth(y, inputs, emit)[0],
  wgsl: { kind: "attendOnce", scale: (y) => y.attributes.scale },
  reference: (y, inputs) => operation.reference(y, inputs),
};

const weights: Operation<Attributes> = {
  name: "attentionWeights",
  gradient: () => {
    throw new TensorError("attention", {
      got: "a second derivative",
      expected: "first derivatives only",
      fix: "Write attention with matmul and softmax.",
    });
  },
  onnx: (y, inputs, emit) => emitBoth(y, inputs, emit)[1],
  wgsl: { kind: "rewrite", as: softmaxOfScores },
  reference: weightsOf,
};

const operation: Operation<Attributes> = {
  name: "attention",
  // with P the weights: dS = P ∘ (g vᵀ − ⟨g, y⟩), where ⟨g, y⟩ per query is what the softmax gradient subtracts
  gradient: (y, g) => {
    const [q, k, v] = y.inputs as [Tensor, Tensor, Tensor];
    const { scale } = y.attributes;
    const [B, H, S, d] = q.shape as [number, number, number, number];
    const [, G, T] = k.shape as [number, number, number];
    // stacks the queries of all heads that share a key head
    const shared = (x: Tensor): Tensor => reshape(x, [B, G, (H / G) * S, x.shape.at(-1)!]);
    const P = shared(node(weights, y.inputs, y.attributes, [B, H, S, T]));
    const ones = constant(1, [d, 1]);
    const taken = shared(reshape(matmul(reshape(mul(g, y), [B * H * S, d]), ones), [B, H, S, 1]));
    const dS = mul(P, sub(matmul(shared(g), v, { transposeB: true }), taken));
    return [
      reshape(matmul(dS, k, { scale }), q.shape),
      matmul(dS, shared(q), { transposeA: true, scale }),
      matmul(P, shared(g), { transposeA: true }),
      undefined,
    ];
  },
  onnx: (y, inputs, emit) => emitBoth(y, inputs, emit)[0],
  wgsl: {
    kind: "rewrite",
    as: (y) => {
      const [q, k, v] = y.inputs as [Tensor, Tensor, Tensor];
      const [B, H, S] = q.shape as [number, number, number];
      const [, G, T] = k.shape as [number, number, number];
      if (S === 1 && T <= mostAtOnce) return node(once, y.inputs, y.attributes, y.shape);
      const P = softmaxOfScores(node(weights, y.inputs, y.attributes, [B, H, S, T]));
      return reshape(matmul(reshape(P, [B, G, (H / G) * S, T]), v), y.shape);
    },
  },
  reference: (y, inputs) => {
    const [B, H, S, d] = y.shape as [number, number, number, number];
    const [, G, T] = y.inputs[1]!.shape as [number, number, number];
    const P = weightsOf(y, inputs);
    const v = inputs[2]!;
    const result = new Float64Array(sizeOf(y.shape));
    for (let row = 0; row < B * H * S; row++) {
      const b = Math.floor(row / (H * S));
      const values = (b * G + Math.floor((Math.floor(row / S) % H) / (H / G))) * T * d;
      for (let t = 0; t < T; t++) {
        for (let i = 0; i < d; i++) result[row * d + i]! += P[row * T + t]! * v[values + t * d + i]!;
      }
    }
    return result;
  },
};

/**
 * softmax(scale · q kᵀ + mask) v for each head, one pass per head while its scores are in the cache. No gradient
 * flows into the mask.
 * @param q shape [B, H, S, d]. @param k shape [B, G, T, d], G dividing H: head h uses key head ⌊h · G / H⌋.
 * @param v as k. @param mask broadcasting to [B, H, S, T], added to the scores. @returns shape [B, H, S, d].
 */
export function attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, scale: number): Tensor {
  for (const [i, x] of [q, k, v, mask].entries())
    requireDType("attention", `argument ${i + 1}`, x, "float32");
  const [B, H, S, d] = q.shape as [number, number, number, number];
  const [, G, T] = k.shape as [number, number, number];
  const scores: Shape = [B, H, S, T];
  const fits =
    q.shape.length === 4 &&
    sameShape(k.shape, [B, G, T, d]) &&
    sameShape(v.shape, k.shape) &&
    H % G === 0 &&
    mask.shape.length === 4 &&
    sameShape(broadcastShapes("attention", mask.shape, scores), scores);
  if (!fits) {
    throw new TensorError("attention", {
      got: `q ${show(q.shape)}, k ${show(k.shape)}, v ${show(v.shape)}, mask ${show(mask.shape)}`,
      expected: "q [B, H, S, d], k and v [B, G, T, d] with G dividing H, mask [B or 1, H or 1, S, T]",
      fix: "Split the projections into heads first.",
    });
  }
  return node(operation, [q, k, v, mask], { scale }, q.shape);
}
