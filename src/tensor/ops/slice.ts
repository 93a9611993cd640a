import { TensorError } from "../error.ts";
import { node, type Operation, type Tensor } from "../graph.ts";
import { checkAxis, ravel, show, unravel } from "../shape.ts";
import { strided, stridesOf } from "../wgsl/code.ts";
import { embed } from "./embed.ts";

interface Attributes {
  readonly axis: number;
  readonly from: number;
}

const operation: Operation<Attributes> = {
  name: "slice",
  gradient: ({ inputs: [x], attributes: { axis, from } }, g) => [embed(g, axis, from, x!.shape[axis]!)],
  onnx: (y, [x], emit) => {
    const { axis, from } = y.attributes;
    return emit.node("Slice", [x!, emit.list([from]), emit.list([from + y.shape[axis]!]), emit.list([axis])]);
  },
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const strides = stridesOf(y.inputs[0]!.shape);
      const { axis, from } = y.attributes;
      return code.read(0, code.name("u32", strided(at, y.shape, strides, from * strides[axis]!)));
    },
  },
  reference: (y, [x]) => {
    const { axis, from } = y.attributes;
    const shape = y.inputs[0]!.shape;
    return Float64Array.from({ length: y.shape.reduce((a, b) => a * b, 1) }, (_, index) => {
      const at = unravel(index, y.shape);
      return x![ravel(at.with(axis, at[axis]! + from), shape)]!;
    });
  },
};

/** The part of x along an axis from one index up to, but not including, another. */
export function slice(x: Tensor, axis: number, from: number, to: number): Tensor {
  const along = checkAxis("slice", axis, x.shape);
  const length = x.shape[along]!;
  if (!(Number.isInteger(from) && Number.isInteger(to) && 0 <= from && from < to && to <= length)) {
    throw new TensorError("slice", {
      got: `${from} to ${to} on axis ${along} of shape ${show(x.shape)}`,
      expected: `0 ≤ from < to ≤ ${length}`,
      fix: "Choose non-negative bounds within the axis.",
    });
  }
  if (from === 0 && to === length) return x;
  return node(operation, [x], { axis: along, from }, x.shape.with(along, to - from), x.dtype);
}
