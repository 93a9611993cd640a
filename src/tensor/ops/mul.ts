import { applyBinary, binary } from "../elementwise.ts";
import type { Operation, Tensor, TensorLike } from "../graph.ts";
import { sumTo } from "./sumTo.ts";

const operation: Operation<null> = {
  ...binary(
    "mul",
    "Mul",
    (a, b) => `(${a} * ${b})`,
    (a, b) => a * b,
    (a, b, _y, g) => [sumTo(mul(g, b), a.shape), sumTo(mul(g, a), b.shape)],
  ),
  again: "copy",
};

/** `a · b`, broadcasting. */
export const mul = (a: TensorLike, b: TensorLike): Tensor => applyBinary(operation, a, b);
