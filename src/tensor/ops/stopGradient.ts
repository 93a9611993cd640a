import { node, type Operation, type Tensor } from "../graph.ts";

const operation: Operation<null> = {
  name: "stopGradient",
  gradient: () => [undefined],
  onnx: (_, inputs) => inputs[0]!,
  wgsl: { kind: "view" },
  reference: (_, [x]) => x!,
  again: "free",
};

/** The same values, without a gradient (detach). */
export const stopGradient = (x: Tensor): Tensor => node(operation, [x], null, x.shape, x.dtype);
