import { applyComparison, comparison } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";

const operation = comparison("lessEqual", "LessOrEqual", "<=", (a, b) => a <= b);

/** Whether `a ≤ b`, broadcasting, as bool. No gradient. */
export const lessEqual = (a: Tensor, b: TensorLike): Tensor => applyComparison(operation, a, b);
