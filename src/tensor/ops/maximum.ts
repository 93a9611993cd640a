import { applyBinary, binary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { greaterEqual } from "./greaterEqual.ts";
import { sumTo } from "./sumTo.ts";
import { where } from "./where.ts";

const operation = binary(
  "maximum",
  "Max",
  (a, b) => `max(${a}, ${b})`,
  Math.max,
  (a, b, _y, g) => {
    const first = greaterEqual(a, b);
    return [sumTo(where(first, g, 0), a.shape), sumTo(where(first, 0, g), b.shape)];
  },
);

/** The larger of a and b, broadcasting. Where they are equal the gradient goes to a. */
export const maximum = (a: TensorLike, b: TensorLike): Tensor => applyBinary(operation, a, b);
