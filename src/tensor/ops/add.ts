import { applyBinary, binary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { sumTo } from "./sum-to.ts";

const operation = binary(
  "add",
  "Add",
  (a, b) => a + b,
  (a, b, _y, g) => [sumTo(g, a.shape), sumTo(g, b.shape)],
);

/** `a + b`, broadcasting. */
export const add = (a: TensorLike, b: TensorLike): Tensor => applyBinary(operation, a, b);
