import type { Tensor } from "../graph.ts";
import type { Shape } from "../shape.ts";
import { reshape } from "./reshape.ts";
import { sum } from "./sum.ts";

/** Sum over exactly the axes along which a shape was broadcast: the transpose of broadcastTo. */
export function sumTo(x: Tensor, shape: Shape): Tensor {
  const lead = x.shape.length - shape.length;
  const axes = x.shape.flatMap((n, i) => (i < lead || (shape[i - lead] === 1 && n !== 1) ? [i] : []));
  return reshape(sum(x, axes), shape);
}
