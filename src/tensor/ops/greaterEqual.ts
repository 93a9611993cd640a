import { applyComparison, comparison } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";

const operation = comparison("greaterEqual", "GreaterOrEqual", ">=", (a, b) => a >= b);

/** Whether `a ≥ b`, broadcasting, as bool. No gradient. */
export const greaterEqual = (a: Tensor, b: TensorLike): Tensor => applyComparison(operation, a, b);
