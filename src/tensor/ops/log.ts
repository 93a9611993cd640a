import { applyUnary, unary } from "../elementwise.ts";
import type { Tensor, TensorLike } from "../graph.ts";
import { div } from "./div.ts";

const operation = unary(
  "log",
  "Log",
  (x) => `log(${x})`,
  Math.log,
  (x, _y, g) => div(g, x),
);

/**
 * Natural logarithm. The last bit may depend on an element's position in its tensor and on the number of
 * threads; logSoftmax has no such dependence.
 */
export const log = (x: TensorLike): Tensor => applyUnary(operation, x);
