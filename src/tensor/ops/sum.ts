import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import type { Emit } from "../onnx.ts";
import {
  keptShape,
  type ReduceAttributes,
  type ReduceOptions,
  reducedShape,
  sortedAxes,
  targets,
} from "../reduce.ts";
import { sizeOf } from "../shape.ts";
import { broadcastTo } from "./broadcastTo.ts";
import { reshape } from "./reshape.ts";

const operation: Operation<ReduceAttributes> = {
  name: "sum",
  gradient: ({ inputs: [x], attributes: { axes } }, g) => [
    broadcastTo(reshape(g, keptShape(x!.shape, axes)), x!.shape),
  ],
  onnx: (y, [x], emit) => {
    const { axes, keep } = y.attributes;
    const { shape } = y.inputs[0]!;
    if (axes.at(-1) === axes.length - 1 && axes.length < shape.length) return sumLeading(y, x!, emit);
    if (axes.length === 1 && shape.at(-1)! % 4 !== 0 && axes[0] === shape.length - 1) {
      return sumRows(y, x!, emit);
    }
    return emit.node("ReduceSum", [x!, emit.list(axes)], { keepdims: { int: Number(keep) } });
  },
  wgsl: { kind: "reduce", by: "sum", axes: (y) => y.attributes.axes },
  reference: (y, [x]) => {
    const result = new Float64Array(sizeOf(y.shape));
    for (const [from, to] of targets(y.inputs[0]!.shape, y.attributes.axes)) result[to]! += x![from]!;
    return result;
  },
};

/** A product with ones: about three times as fast as ReduceSum over leading axes (6144 rows, 2 threads). */
function sumLeading(y: Tensor<ReduceAttributes>, x: string, emit: Emit): string {
  const { shape } = y.inputs[0]!;
  const rows = sizeOf(shape.slice(0, y.attributes.axes.length));
  const columns = sizeOf(shape) / rows;
  const ones = emit.filled("float32", [1, rows], 1);
  const flat = emit.node("Reshape", [x, emit.list([rows, columns])]);
  return emit.node("Reshape", [emit.node("MatMul", [ones, flat]), emit.list(y.shape)]);
}

/** A product with ones, because ReduceSum's result for a row depends on the memory alignment of its first element. */
function sumRows(y: Tensor<ReduceAttributes>, x: string, emit: Emit): string {
  const columns = y.inputs[0]!.shape.at(-1)!;
  const flat = emit.node("Reshape", [x, emit.list([sizeOf(y.shape), columns])]);
  const ones = emit.filled("float32", [columns, 1], 1);
  return emit.node("Reshape", [emit.node("MatMul", [flat, ones]), emit.list(y.shape)]);
}

/**
 * Sum over axes, by default all. The sum over the last axis of a row is bit for bit the same, whatever its position and
 * the other rows.
 */
export function sum(x: Tensor, axes?: readonly number[], options: ReduceOptions = {}): Tensor {
  requireDType("sum", "the argument", x, "float32");
  const attributes = { axes: sortedAxes("sum", x.shape, axes), keep: options.keep ?? false };
  if (attributes.axes.length === 0) return x;
  return node(operation, [x], attributes, reducedShape(x.shape, attributes));
}
