import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { div } from "./div.ts";
import { mul } from "./mul.ts";

const operation = unary(
  "sqrt",
  "Sqrt",
  (x) => `sqrt(${x})`,
  Math.sqrt,
  (_x, y, g) => div(mul(g, 0.5), y),
);

/** `√x`. */
export const sqrt = (x: TensorLike): Tensor => applyUnary(operation, x);
