import { applyBinary, binary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { neg } from "./neg.ts";
import { sumTo } from "./sumTo.ts";

const operation = binary(
  "sub",
  "Sub",
  (a, b) => `(${a} - ${b})`,
  (a, b) => a - b,
  (a, b, _y, g) => [sumTo(g, a.shape), sumTo(neg(g), b.shape)],
);

/** `a - b`, broadcasting. */
export const sub = (a: TensorLike, b: TensorLike): Tensor => applyBinary(operation, a, b);
