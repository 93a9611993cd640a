import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { mul } from "./mul.ts";
import { sign } from "./sign.ts";

const operation = unary(
  "abs",
  "Abs",
  (x) => `abs(${x})`,
  Math.abs,
  (x, _y, g) => mul(g, sign(x)),
);

/** `|x|`; the gradient at 0 is 0. */
export const abs = (x: TensorLike): Tensor => applyUnary(operation, x);
