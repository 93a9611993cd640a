import { TensorError } from "../error.ts";
import type { Tensor } from "../graph.ts";
import { checkAxis, show } from "../shape.ts";
import { slice } from "./slice.ts";

/**
 * Cut x along an axis into pieces of the given lengths. The gradient joins the pieces' gradients with one
 * concatenation.
 */
export function split(x: Tensor, lengths: readonly number[], axis: number): Tensor[] {
  const along = checkAxis("split", axis, x.shape);
  const total = lengths.reduce((a, b) => a + b, 0);
  if (total !== x.shape[along]) {
    throw new TensorError("split", {
      got: `lengths ${show(lengths)} for axis ${along} of shape ${show(x.shape)}`,
      expected: `lengths that add up to ${x.shape[along]}`,
      fix: "Cover the whole axis, or take one piece with slice.",
    });
  }
  let at = 0;
  return lengths.map((n) => slice(x, along, at, (at += n)));
}
