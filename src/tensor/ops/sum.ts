import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import {
  keptShape,
  type ReduceAttributes,
  type ReduceOptions,
  reducedShape,
  sortedAxes,
  targets,
} from "../reduce.ts";
import { sizeOf } from "../shape.ts";
import { broadcastTo } from "./broadcast-to.ts";
import { reshape } from "./reshape.ts";

const operation: Operation<ReduceAttributes> = {
  name: "sum",
  gradient: ({ inputs: [x], attributes: { axes } }, g) => [
    broadcastTo(reshape(g, keptShape(x!.shape, axes)), x!.shape),
  ],
  onnx: (y, [x], emit) =>
    emit.node("ReduceSum", [x!, emit.list(y.attributes.axes)], {
      keepdims: { int: Number(y.attributes.keep) },
    }),
  reference: (y, [x]) => {
    const result = new Float64Array(sizeOf(y.shape));
    for (const [from, to] of targets(y.inputs[0]!.shape, y.attributes.axes)) result[to]! += x![from]!;
    return result;
  },
};

/** Sum over axes, by default all. */
export function sum(x: Tensor, axes?: readonly number[], options: ReduceOptions = {}): Tensor {
  requireDType("sum", "the argument", x, "float32");
  const attributes = { axes: sortedAxes("sum", x.shape, axes), keep: options.keep ?? false };
  if (attributes.axes.length === 0) return x;
  return node(operation, [x], attributes, reducedShape(x.shape, attributes));
}
