import type { Tensor, TensorLike } from "../graph.ts";
import { maximum } from "./maximum.ts";
import { minimum } from "./minimum.ts";

/** `min(max(x, low), high)`. The gradient is 1 from low to high, bounds included, and 0 outside. */
export const clip = (x: TensorLike, low: TensorLike, high: TensorLike): Tensor =>
  minimum(maximum(x, low), high);
