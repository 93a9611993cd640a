import { applyBinary, binary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { lessEqual } from "./lessEqual.ts";
import { sumTo } from "./sumTo.ts";
import { where } from "./where.ts";

const operation = binary(
  "minimum",
  "Min",
  (a, b) => `min(${a}, ${b})`,
  Math.min,
  (a, b, _y, g) => {
    const first = lessEqual(a, b);
    return [sumTo(where(first, g, 0), a.shape), sumTo(where(first, 0, g), b.shape)];
  },
);

/** The smaller of a and b, broadcasting. Where they are equal the gradient goes to a. */
export const minimum = (a: TensorLike, b: TensorLike): Tensor => applyBinary(operation, a, b);
