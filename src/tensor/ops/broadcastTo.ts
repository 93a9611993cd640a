import { TensorError } from "../error.ts";
import { node, type Operation, type Tensor, type TensorLike, toTensor } from "../graph.ts";
import { broadcastShapes, expand, type Shape, sameShape, show } from "../shape.ts";
import { readBroadcast } from "../wgsl/code.ts";
import { sumTo } from "./sumTo.ts";

const operation: Operation<null> = {
  name: "broadcastTo",
  gradient: ({ inputs: [x] }, g) => [sumTo(g, x!.shape)],
  onnx: (y, [x], emit) => emit.node("Expand", [x!, emit.list(y.shape)]),
  wgsl: { kind: "map", element: (y, at, code) => readBroadcast(code, y, 0, at) },
  reference: (y, [x]) => expand(x!, y.inputs[0]!.shape, y.shape),
  again: "free",
};

/** Repeat along axes of length 1 and along new leading axes. */
export function broadcastTo(x: TensorLike, shape: Shape): Tensor {
  const t = toTensor(x);
  if (!sameShape(broadcastShapes("broadcastTo", t.shape, shape), shape)) {
    throw new TensorError("broadcastTo", {
      got: `shape ${show(shape)} for a tensor of shape ${show(t.shape)}`,
      expected: "a shape that is at least as large on every axis",
      fix: "Sum the tensor over the axes that should shrink.",
    });
  }
  return sameShape(t.shape, shape) ? t : node(operation, [t], null, shape, t.dtype);
}
