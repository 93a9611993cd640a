import { node, type Operation, type Tensor } from "../graph.ts";

const operation: Operation<null> = {
  name: "stopGradient",
  gradient: () => [undefined],
  onnx: (_, inputs) => inputs[0]!,
  reference: (_, [x]) => x!,
  again: "free",
};

/** The same values, through which no gradient flows. */
export const stopGradient = (x: Tensor): Tensor => node(operation, [x], null, x.shape, x.dtype);
