/** Tensors of the Tinker training API, dense and sparse, and the numbers that its messages share. */
import { z } from "zod";

/** A tensor, flat and row-major. Integers are ids and fit 32 bits. */
export interface Tensor {
  readonly dtype: "float32" | "int64";
  readonly data: Float32Array | Int32Array;
  readonly shape: readonly number[];
}

export const floatTensor = (data: Float32Array): Tensor => ({ dtype: "float32", data, shape: [data.length] });
export const idTensor = (data: Int32Array): Tensor => ({ dtype: "int64", data, shape: [data.length] });

/** @param cells of the dtype; used without a copy if they already have the tensor's array type. */
export function tensorOf(
  dtype: Tensor["dtype"],
  cells: ArrayLike<number>,
  shape: readonly number[] = [],
): Tensor {
  const data = dtype === "float32" ? floatArray(cells) : idArray(cells);
  return { dtype, data, shape: shape.length > 0 ? shape : [data.length] };
}

export const floatArray = (cells: ArrayLike<number>): Float32Array =>
  cells instanceof Float32Array ? cells : Float32Array.from(cells);
const idArray = (cells: ArrayLike<number>): Int32Array =>
  cells instanceof Int32Array ? cells : Int32Array.from(cells);

/** A sparse matrix [rows, width] in compressed sparse row (CSR) form. */
export interface SparseCells {
  readonly values: ArrayLike<number>;
  /** Offset of each row in the values, and the end of the last one. */
  readonly crow: readonly number[];
  readonly col: readonly number[];
  readonly shape: readonly number[];
}

/** Maximum cells of a matrix, since a few bytes may request many. */
const mostCells = 2 ** 22;
export const sparseForm = `a matrix of at most ${mostCells} cells in compressed rows`;

/** All cells, with 0 for missing ones; or a description of what is wrong, to stand in place of `sparseForm`. */
export function denseCells({ values, crow, col, shape }: SparseCells): number[] | string {
  const [rows = 0, width = 0, ...more] = shape;
  if (shape.length < 2 || more.length > 0 || !(rows * width <= mostCells)) {
    return `a sparse tensor of shape [${shape.slice(0, 8)}]`;
  }
  const rising = crow.every((from, r) => r === 0 || from >= crow[r - 1]!);
  const counted = crow.length === rows + 1 && crow[0] === 0 && crow[rows] === values.length;
  if (!rising || !counted || col.length !== values.length || col.some((c) => c < 0 || c >= width)) {
    return `sparse indices that do not fit ${values.length} values and the shape [${shape}]`;
  }
  const out = new Array<number>(rows * width).fill(0);
  for (let r = 0; r < rows; r++) {
    for (let i = crow[r]!; i < crow[r + 1]!; i++) out[r * width + col[i]!] = values[i]!;
  }
  return out;
}

export const whole = z.int();
export const count = z.int().nonnegative();

/** Validates a list as a whole: a list of millions of invalid items gives one error. */
export const listOf = <T>(isOne: (x: unknown) => x is T, expected: string) =>
  z.custom<readonly T[]>((x) => Array.isArray(x) && x.every(isOne), `expected ${expected}`);
const isNumber = (x: unknown): x is number => typeof x === "number" && Number.isFinite(x);
const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && Number(x) >= 0;
/** A token id that 32 bits can represent. */
export const isId = (x: unknown): x is number => typeof x === "number" && x === (x | 0);
const counts = listOf(isCount, "whole numbers from 0");

export const tensor = z
  .object({
    data: listOf(isNumber, "finite numbers"),
    dtype: z.enum(["int64", "float32"]),
    shape: counts.nullish(),
    sparse_crow_indices: counts.nullish(),
    sparse_col_indices: counts.nullish(),
  })
  .transform((sent, { issues }): Tensor => {
    const { data, dtype, sparse_crow_indices: crow, sparse_col_indices: col } = sent;
    const shape = sent.shape ?? [];
    const cells = crow && col ? denseCells({ values: data, crow, col, shape }) : data;
    const wrong = (message: string): Tensor => {
      issues.push({ code: "custom", message, input: sent });
      return z.NEVER;
    };
    if (typeof cells === "string") return wrong(`got ${cells}, expected ${sparseForm}`);
    if (dtype === "int64" && !cells.every(isId))
      return wrong("got a number that is no id, expected whole ones of 32 bits");
    return tensorOf(dtype, cells, shape);
  });

/** A tensor as JSON has it. */
export const tensorJson = ({ dtype, data, shape }: Tensor) => ({ data: [...data], dtype, shape });
