import { TensorError } from "../error.ts";
import { node, type Operation, type Tensor } from "../graph.ts";
import { type Shape, sameShape, show, sizeOf } from "../shape.ts";

const operation: Operation<null> = {
  name: "reshape",
  gradient: ({ inputs: [x] }, g) => [reshape(g, x!.shape)],
  onnx: (y, [x], emit) => emit.node("Reshape", [x!, emit.list(y.shape)]),
  wgsl: { kind: "view" },
  reference: (_, [x]) => x!,
  again: "free",
};

/** The same numbers in row-major order under another shape. */
export function reshape(x: Tensor, shape: Shape): Tensor {
  if (sizeOf(shape) !== sizeOf(x.shape)) {
    throw new TensorError("reshape", {
      got: `shape ${show(shape)} for a tensor of shape ${show(x.shape)}`,
      expected: `a shape of ${sizeOf(x.shape)} elements`,
      fix: "Choose lengths whose product is the number of elements.",
    });
  }
  if (sameShape(shape, x.shape)) return x;
  return x.op === operation ? reshape(x.inputs[0]!, shape) : node(operation, [x], null, shape, x.dtype);
}
