// Shared code of reductions over axes.
import { checkAxis, type Shape, unravel } from "./shape.ts";

export interface ReduceAttributes {
  /** Sorted, not negative. */
  readonly axes: readonly number[];
  readonly keep: boolean;
}

export interface ReduceOptions {
  /** Whether reduced axes stay, with length 1. Default false. */
  readonly keep?: boolean;
}

export const sortedAxes = (
  where: string,
  shape: Shape,
  axes: readonly number[] = shape.map((_, i) => i),
): number[] => [...new Set(axes.map((a) => checkAxis(where, a, shape)))].sort((a, b) => a - b);

/** The shape with the axes at length 1. */
export const keptShape = (shape: Shape, axes: readonly number[]): number[] =>
  shape.map((n, i) => (axes.includes(i) ? 1 : n));

export const reducedShape = (shape: Shape, { axes, keep }: ReduceAttributes): number[] =>
  keep ? keptShape(shape, axes) : shape.filter((_, i) => !axes.includes(i));

/** For every element, the flat index of the result that it is reduced into. */
export function* targets(shape: Shape, axes: readonly number[]): Generator<readonly [number, number]> {
  const kept = keptShape(shape, axes);
  for (let i = 0; i < shape.reduce((a, b) => a * b, 1); i++) {
    const at = unravel(i, shape);
    yield [i, kept.reduce((index, n, axis) => index * n + (n === 1 ? 0 : at[axis]!), 0)];
  }
}
