import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { mul } from "./mul.ts";

const operation = unary(
  "exp",
  "Exp",
  (x) => `exp(${x})`,
  Math.exp,
  (_x, y, g) => mul(g, y),
);

/** `e^x`. */
export const exp = (x: TensorLike): Tensor => applyUnary(operation, x);
