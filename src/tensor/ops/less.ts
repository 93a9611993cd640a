import { applyComparison, comparison } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";

const operation = comparison("less", "Less", "<", (a, b) => a < b);

/** Whether `a < b`, broadcasting, as bool. No gradient. */
export const less = (a: Tensor, b: TensorLike): Tensor => applyComparison(operation, a, b);
