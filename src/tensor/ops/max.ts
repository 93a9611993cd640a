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
import { cast } from "./cast.ts";
import { div } from "./div.ts";
import { equal } from "./equal.ts";
import { mul } from "./mul.ts";
import { reshape } from "./reshape.ts";
import { sum } from "./sum.ts";

const operation: Operation<ReduceAttributes> = {
  name: "max",
  gradient: (y, g) => {
    const x = y.inputs[0]!;
    const { axes } = y.attributes;
    const kept = keptShape(x.shape, axes);
    const first = cast(equal(x, reshape(y, kept)), "float32");
    return [mul(first, div(reshape(g, kept), sum(first, axes, { keep: true })))];
  },
  onnx: (y, [x], emit) =>
    emit.node("ReduceMax", [x!, emit.list(y.attributes.axes)], {
      keepdims: { int: Number(y.attributes.keep) },
    }),
  wgsl: { kind: "reduce", by: "max", axes: (y) => y.attributes.axes },
  reference: (y, [x]) => {
    const result = new Float64Array(sizeOf(y.shape)).fill(-Infinity);
    for (const [from, to] of targets(y.inputs[0]!.shape, y.attributes.axes)) {
      result[to] = Math.max(result[to]!, x![from]!);
    }
    return result;
  },
};

/** Maximum over axes, by default all. Tied elements share the gradient equally. */
export function max(x: Tensor, axes?: readonly number[], options: ReduceOptions = {}): Tensor {
  requireDType("max", "the argument", x, "float32");
  const attributes = { axes: sortedAxes("max", x.shape, axes), keep: options.keep ?? false };
  if (attributes.axes.length === 0) return x;
  return node(operation, [x], attributes, reducedShape(x.shape, attributes));
}
