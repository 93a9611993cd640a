import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { mul } from "./mul.ts";
import { sub } from "./sub.ts";

const operation = unary(
  "sigmoid",
  "Sigmoid",
  (x) => `(1.0 / (1.0 + exp(-${x})))`,
  (x) => 1 / (1 + Math.exp(-x)),
  (_x, y, g) => mul(g, mul(y, sub(1, y))),
);

/** `1 / (1 + e^-x)`. */
export const sigmoid = (x: TensorLike): Tensor => applyUnary(operation, x);
