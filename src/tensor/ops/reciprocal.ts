import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { mul } from "./mul.ts";
import { neg } from "./neg.ts";
import { square } from "./square.ts";

const operation = unary(
  "reciprocal",
  "Reciprocal",
  (x) => `(1.0 / ${x})`,
  (x) => 1 / x,
  (_x, y, g) => neg(mul(g, square(y))),
);

/** `1/x`. */
export const reciprocal = (x: TensorLike): Tensor => applyUnary(operation, x);
