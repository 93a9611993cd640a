// Shapes are lists of lengths, outermost first. This file is independent of graphs.
import { TensorError } from "./error.ts";

export type Shape = readonly number[];

/** Number of elements. */
export const sizeOf = (shape: Shape): number => shape.reduce((a, b) => a * b, 1);

export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((n, i) => n === b[i]);

export const show = (shape: Shape): string => `[${shape.join(", ")}]`;

/** Coordinates of the element at a flat index, row-major. */
export function unravel(index: number, shape: Shape): number[] {
  const at = new Array<number>(shape.length);
  for (let i = shape.length - 1; i >= 0; i--) {
    at[i] = index % shape[i]!;
    index = Math.floor(index / shape[i]!);
  }
  return at;
}

/** Flat index of coordinates, row-major. */
export const ravel = (at: readonly number[], shape: Shape): number =>
  shape.reduce((index, n, i) => index * n + at[i]!, 0);

/** Shape of an elementwise result, with NumPy's broadcasting. */
export function broadcastShapes(where: string, a: Shape, b: Shape): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const m = a[i - rank + a.length] ?? 1;
    const n = b[i - rank + b.length] ?? 1;
    if (m !== n && m !== 1 && n !== 1) {
      throw new TensorError(where, {
        got: `shapes ${show(a)} and ${show(b)}`,
        expected: "lengths that are equal or 1, aligned from the last axis",
        fix: "Reshape one of them so that the axes line up, with length 1 where it repeats.",
      });
    }
    return m === 1 ? n : m;
  });
}

/** Axis in [0, rank); negative axes count from the end. */
export function checkAxis(where: string, axis: number, shape: Shape): number {
  const at = axis < 0 ? axis + shape.length : axis;
  if (Number.isInteger(at) && at >= 0 && at < shape.length) return at;
  throw new TensorError(where, {
    got: `axis ${axis} for shape ${show(shape)}`,
    expected: `an axis from ${-shape.length} to ${shape.length - 1}`,
    fix: "Pick an axis that the tensor has.",
  });
}

/** The data of a tensor, broadcast to a larger shape. */
export function expand(data: Float64Array, from: Shape, to: Shape): Float64Array {
  const lead = to.length - from.length;
  return Float64Array.from({ length: sizeOf(to) }, (_, index) => {
    const at = unravel(index, to);
    return data[
      ravel(
        from.map((n, i) => (n === 1 ? 0 : at[i + lead]!)),
        from,
      )
    ]!;
  });
}

/** Ids, indices and positions are int32: ONNX Runtime accepts them everywhere we use them. */
export type DType = "float32" | "int32" | "bool";
