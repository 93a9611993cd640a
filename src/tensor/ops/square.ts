import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { mul } from "./mul.ts";

const operation = unary(
  "square",
  (_, [x], emit) => emit.node("Mul", [x!, x!]),
  (x) => `(${x} * ${x})`,
  (x) => x * x,
  (x, _y, g) => mul(g, mul(x, 2)),
);

/** `x²`. */
export const square = (x: TensorLike): Tensor => applyUnary(operation, x);
