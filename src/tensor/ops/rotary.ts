import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import type { Emit } from "../onnx.ts";
import { broadcastShapes, expand, type Shape, sameShape, show, sizeOf } from "../shape.ts";
import { broadcastStrides, strided } from "../wgsl/code.ts";
import { lastOf } from "../wgsl/lowering.ts";
import { neg } from "./neg.ts";

const half = (shape: Shape): number[] => shape.with(-1, shape.at(-1)! / 2);

const operation: Operation<null> = {
  name: "rotary",
  gradient: ({ inputs: [, cos, sin] }, g) => [rotary(g, cos!, neg(sin!)), undefined, undefined],
  onnx: (y, [x, cos, sin], emit) => {
    const angles = y.inputs[1]!.shape;
    const view = sameShape(angles, y.inputs[2]!.shape) ? fourAxes(y.shape, angles) : undefined;
    if (!view) return inHalves(y.shape, x!, cos!, sin!, emit);
    const [batch, , time, width] = view.shape;
    const cache = emit.list([view.perBatch ? batch * time : time, width / 2]);
    const positions = view.perBatch
      ? emit.constant(
          "int64",
          [batch, time],
          Array.from({ length: batch * time }, (_, i) => i),
        )
      : emit.list([0]);
    const reshaped = (value: string, shape: string) => emit.node("Reshape", [value, shape]);
    const turned = emit.node(
      "RotaryEmbedding",
      [reshaped(x!, emit.list(view.shape)), positions, reshaped(cos!, cache), reshaped(sin!, cache)],
      {},
      "com.microsoft",
    );
    return reshaped(turned, emit.list(y.shape));
  },
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const n = lastOf(y.shape) / 2;
      const column = code.name("u32", `(${at} % ${2 * n}u)`);
      const inFirst = code.name("bool", `(${column} < ${n}u)`);
      const angle = code.name("u32", `((${at} / ${2 * n}u) * ${n}u + ${column} % ${n}u)`);
      const of = (input: number): string => {
        const strides = broadcastStrides(y.inputs[input]!.shape, half(y.shape));
        return code.read(input, code.name("u32", strided(angle, half(y.shape), strides)));
      };
      const other = code.read(0, code.name("u32", `select(${at} - ${n}u, ${at} + ${n}u, ${inFirst})`));
      const turned = `select(${other}, -${other}, ${inFirst})`;
      return `(${code.read(0, at)} * ${of(1)} + ${turned} * ${of(2)})`;
    },
  },
  reference: (y, [x, cos, sin]) => {
    const n = y.shape.at(-1)! / 2;
    const c = expand(cos!, y.inputs[1]!.shape, half(y.shape));
    const s = expand(sin!, y.inputs[2]!.shape, half(y.shape));
    return x!.map((v, i) => {
      const row = Math.floor(i / (2 * n));
      const j = i % (2 * n);
      const angle = row * n + (j % n);
      return j < n ? v * c[angle]! - x![i + n]! * s[angle]! : v * c[angle]! + x![i - n]! * s[angle]!;
    });
  },
};

interface FourAxes {
  /** [batch, heads, time, width] */
  readonly shape: readonly [number, number, number, number];
  /** Whether each batch row has its own angles. */
  readonly perBatch: boolean;
}

/** The form in which ONNX Runtime's RotaryEmbedding accepts x and its angles; it takes half the time of plain operators. */
function fourAxes(shape: Shape, angles: Shape): FourAxes | undefined {
  const width = shape.at(-1)!;
  const time = shape.at(-2) ?? 1;
  const own = angles.slice(0, -2);
  if (sameShape(angles, half(shape))) {
    return { shape: [1, 1, sizeOf(shape) / width, width], perBatch: false };
  }
  if (angles.at(-2) !== time) return undefined;
  if (sizeOf(own) === 1) {
    return { shape: [1, sizeOf(shape.slice(0, -2)), time, width], perBatch: false };
  }
  const perBatch = shape.length === 4 && sameShape(own, [shape[0]!, 1]);
  return perBatch ? { shape: [shape[0]!, shape[1]!, time, width], perBatch } : undefined;
}

function inHalves(shape: Shape, x: string, cos: string, sin: string, emit: Emit): string {
  const n = shape.at(-1)! / 2;
  const [a, b] = emit.nodes("Split", [x, emit.list([n, n])], 2, { axis: { int: -1 } });
  const times = (p: string, q: string) => emit.node("Mul", [p, q]);
  const first = emit.node("Sub", [times(a!, cos), times(b!, sin)]);
  const second = emit.node("Add", [times(b!, cos), times(a!, sin)]);
  return emit.node("Concat", [first, second], { axis: { int: -1 } });
}

/**
 * Rotate pairs (x[j], x[j + hd/2]) by angles, the half-split convention of Llama checkpoints.
 * No gradient flows into the angles.
 * @param x shape [..., hd]. @param cos of the angles, broadcasting to [..., hd/2]: usually [T, hd/2] for x of
 *   shape [B, H, T, hd], or [B, 1, T, hd/2] if rows have different positions. @param sin the same.
 */
export function rotary(x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  requireDType("rotary", "the argument", x, "float32");
  const width = x.shape.at(-1) ?? 1;
  const fits = (s: Shape): boolean =>
    s.at(-1) === width / 2 && sameShape(broadcastShapes("rotary", s, half(x.shape)), half(x.shape));
  if (width % 2 !== 0 || !fits(cos.shape) || !fits(sin.shape)) {
    throw new TensorError("rotary", {
      got: `cos ${show(cos.shape)} and sin ${show(sin.shape)} for a tensor of shape ${show(x.shape)}`,
      expected: `an even last axis, and angles that broadcast to ${show(half(x.shape))}`,
      fix: "Give one angle per pair: half the width, not the full width with each angle twice.",
    });
  }
  return node(operation, [x, cos, sin], null, x.shape);
}
