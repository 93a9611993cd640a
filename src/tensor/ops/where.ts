import { node, type Operation, requireDType, type Tensor, type TensorLike, toTensor } from "../graph.ts";
import { broadcastShapes, expand } from "../shape.ts";
import { readBroadcast } from "../wgsl/code.ts";
import { sumTo } from "./sumTo.ts";

const operation: Operation<null> = {
  name: "where",
  gradient: ({ inputs: [condition, a, b] }, g) => [
    undefined,
    sumTo(where(condition!, g, 0), a!.shape),
    sumTo(where(condition!, 0, g), b!.shape),
  ],
  onnx: (_, inputs, emit) => emit.node("Where", inputs),
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const [condition, a, b] = y.inputs.map((_, i) => readBroadcast(code, y, i, at));
      return `select(${b}, ${a}, ${condition})`;
    },
  },
  reference: (y, values) => {
    const [condition, a, b] = values.map((v, i) => expand(v, y.inputs[i]!.shape, y.shape));
    return a!.map((x, i) => (condition![i] ? x : b![i]!));
  },
};

/** Elementwise: a if the condition holds, else b. All three broadcast. */
export function where(condition: Tensor, a: TensorLike, b: TensorLike): Tensor {
  const [x, y] = [toTensor(a), toTensor(b)];
  requireDType("where", "the condition", condition, "bool");
  requireDType("where", "the first choice", x, "float32", "int32");
  requireDType("where", "the second choice", y, x.dtype);
  const shape = broadcastShapes("where", condition.shape, broadcastShapes("where", x.shape, y.shape));
  return node(operation, [condition, x, y], null, shape, x.dtype);
}
