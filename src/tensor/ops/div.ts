import { applyBinary, binary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { mul } from "./mul.ts";
import { neg } from "./neg.ts";
import { sumTo } from "./sumTo.ts";

const operation = binary(
  "div",
  "Div",
  (a, b) => `(${a} / ${b})`,
  (a, b) => a / b,
  (a, b, y, g) => {
    const part = div(g, b);
    return [sumTo(part, a.shape), sumTo(neg(mul(part, y)), b.shape)];
  },
);

/** `a / b`, broadcasting. */
export const div = (a: TensorLike, b: TensorLike): Tensor => applyBinary(operation, a, b);
