import type { Tensor } from "../graph.ts";
import { type ReduceOptions, sortedAxes } from "../reduce.ts";
import { mul } from "./mul.ts";
import { sum } from "./sum.ts";

/** Mean over axes, by default all. */
export function mean(x: Tensor, axes?: readonly number[], options: ReduceOptions = {}): Tensor {
  const count = sortedAxes("mean", x.shape, axes).reduce((n, axis) => n * x.shape[axis]!, 1);
  return mul(sum(x, axes, options), 1 / count);
}
