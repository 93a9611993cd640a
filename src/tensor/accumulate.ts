import type { Tensor } from "./graph.ts";
import { add, addends } from "./ops/add.ts";
import { addMatmul } from "./ops/addMatmul.ts";
import { factors } from "./ops/matmul.ts";

/**
 * `into + gradient`, where matrix products in the gradient accumulate directly into the sum, without an extra pass over
 * memory. If the output is written into the array fed as `into`, the update is in place.
 */
export function accumulate(into: Tensor, gradient: Tensor): Tensor {
  const parts = addends(gradient);
  if (parts) return accumulate(accumulate(into, parts[0]), parts[1]);
  const product = factors(gradient);
  return product ? addMatmul(into, product.a, product.b, product.options) : add(into, gradient);
}
