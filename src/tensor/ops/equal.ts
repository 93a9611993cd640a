import { applyComparison, comparison } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";

const operation = comparison("equal", "Equal", "==", (a, b) => a === b);

/** Whether `a = b`, broadcasting, as bool. No gradient. */
export const equal = (a: Tensor, b: TensorLike): Tensor => applyComparison(operation, a, b);
