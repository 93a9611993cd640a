import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";

const operation = unary(
  "neg",
  "Neg",
  (x) => `(-${x})`,
  (x) => -x,
  (_x, _y, g) => neg(g),
);

/** `-x`. */
export const neg = (x: TensorLike): Tensor => applyUnary(operation, x);
