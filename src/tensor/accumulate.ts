import type { Tensor } from "./graph.ts";
import { add, addends } from "./ops/add.ts";
import { addMatmul } from "./ops/addMatmul.ts";
import { factors } from "./ops/matmul.ts";

/**
 * `into + gradient`, with the matrix products among the gradient's summands begun from the sum so far: no pass over
 * memory of their own. An output that is written into the array fed as `into` is updated in place.
 */
export function accumulate(into: Tensor, gradient: Tensor): Tensor {
  const parts = addends(gradient);
  if (parts) return accumulate(accumulate(into, parts[0]), parts[1]);
  const product = factors(gradient);
  return product ? addMatmul(into, product.a, product.b, product.options) : add(into, gradient);
}
