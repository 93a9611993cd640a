import { applyUnary, unary } from "../elementwise.ts";
import { constant, type Tensor, type TensorLike } from "../graph.ts";

const operation = unary(
  "sign",
  "Sign",
  (x) => `sign(${x})`,
  Math.sign,
  (x) => constant(0, x.shape),
);

/** -1, 0 or 1; its gradient is 0. */
export const sign = (x: TensorLike): Tensor => applyUnary(operation, x);
