import { applyBinary, binary } from "../elementwise.ts";
import type { Operation, Tensor, TensorLike } from "../graph.ts";
import { sameShape } from "../shape.ts";
import { sumTo } from "./sumTo.ts";

const operation = binary(
  "add",
  "Add",
  (a, b) => `(${a} + ${b})`,
  (a, b) => a + b,
  (a, b, _y, g) => [sumTo(g, a.shape), sumTo(g, b.shape)],
);

/** `a + b`, broadcasting. */
export const add = (a: TensorLike, b: TensorLike): Tensor => applyBinary(operation, a, b);

/** The two summands of a sum without broadcasting, if the tensor is one. */
export function addends(t: Tensor): readonly [Tensor, Tensor] | undefined {
  const [a, b] = t.inputs;
  const isSum =
    t.op === (operation as Operation) && sameShape(a!.shape, t.shape) && sameShape(b!.shape, t.shape);
  return isSum ? [a!, b!] : undefined;
}
