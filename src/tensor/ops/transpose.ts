import { TensorError } from "../error.ts";
import { node, type Operation, type Tensor } from "../graph.ts";
import { ravel, show, unravel } from "../shape.ts";
import { strided, stridesOf } from "../wgsl/code.ts";
import { reshape } from "./reshape.ts";

interface Attributes {
  readonly permutation: readonly number[];
}

const operation: Operation<Attributes> = {
  name: "transpose",
  gradient: ({ attributes: { permutation } }, g) => [
    transpose(
      g,
      permutation.map((_, axis) => permutation.indexOf(axis)),
    ),
  ],
  onnx: (y, inputs, emit) => emit.node("Transpose", inputs, { perm: { ints: y.attributes.permutation } }),
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const from = stridesOf(y.inputs[0]!.shape);
      const strides = y.attributes.permutation.map((axis) => from[axis]!);
      return code.read(0, code.name("u32", strided(at, y.shape, strides)));
    },
  },
  reference: (y, [x]) => {
    const from = y.inputs[0]!.shape;
    return x!.map((_, index) => {
      const to = unravel(index, y.shape);
      return x![
        ravel(
          from.map((_, axis) => to[y.attributes.permutation.indexOf(axis)]!),
          from,
        )
      ]!;
    });
  },
  again: "copy",
};

/** Reorder axes: axis i of the result is axis permutation[i] of x. */
export function transpose(x: Tensor, permutation: readonly number[]): Tensor {
  if (permutation.length !== x.shape.length || x.shape.some((_, axis) => !permutation.includes(axis))) {
    throw new TensorError("transpose", {
      got: `permutation ${show(permutation)} for shape ${show(x.shape)}`,
      expected: `each axis from 0 to ${x.shape.length - 1} once`,
      fix: "List every axis of the tensor in its new order.",
    });
  }
  const shape = permutation.map((axis) => x.shape[axis]!);
  const long = permutation.filter((axis) => x.shape[axis] !== 1);
  const stays = long.every((axis, i) => i === 0 || long[i - 1]! < axis);
  return stays ? reshape(x, shape) : node(operation, [x], { permutation }, shape, x.dtype);
}
