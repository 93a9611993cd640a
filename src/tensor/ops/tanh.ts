import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { mul } from "./mul.ts";
import { square } from "./square.ts";
import { sub } from "./sub.ts";

const operation = unary(
  "tanh",
  "Tanh",
  (x) => `tanh(clamp(${x}, -15.0, 15.0))`,
  Math.tanh,
  (_x, y, g) => mul(g, sub(1, square(y))),
);

/** Hyperbolic tangent. */
export const tanh = (x: TensorLike): Tensor => applyUnary(operation, x);
