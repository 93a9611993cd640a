import { applyUnary, unary } from "../elementwise.ts";
import type { Operation, Tensor, TensorLike } from "../graph.ts";
import { add } from "./add.ts";
import { mul } from "./mul.ts";
import { sigmoid } from "./sigmoid.ts";
import { sub } from "./sub.ts";

const operation: Operation<null> = {
  ...unary(
    "silu",
    (_, [x], emit) => emit.node("Mul", [x!, emit.node("Sigmoid", [x!])]),
    (x) => `(${x} / (1.0 + exp(-${x})))`,
    (x) => x / (1 + Math.exp(-x)),
    (x, y, g) => {
      const s = sigmoid(x);
      return mul(g, add(s, mul(y, sub(1, s))));
    },
  ),
  again: "copy",
};

/** `x · sigmoid(x)`, the gate of SwiGLU. Gradient `s + y (1 - s)` with s = sigmoid(x) recomputed. */
export const silu = (x: TensorLike): Tensor => applyUnary(operation, x);
