import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import type { Emit } from "../onnx.ts";
import { broadcastShapes, expand, type Shape, show, sizeOf } from "../shape.ts";
import { reshape } from "./reshape.ts";
import { sumTo } from "./sumTo.ts";

export interface MatmulOptions {
  /** Whether the last two axes of a are swapped first. */
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** Factor on the product. Default 1. */
  readonly scale?: number;
}

const swapIf = (swap: boolean, [rows, columns]: Shape): [number, number] =>
  swap ? [columns!, rows!] : [rows!, columns!];

const operation: Operation<Required<MatmulOptions>> = {
  name: "matmul",
  gradient: ({ inputs: [a, b], attributes: { transposeA, transposeB, scale } }, g) => {
    const toA = transposeA
      ? matmul(b!, g, { transposeA: transposeB, transposeB: true, scale })
      : matmul(g, b!, { transposeB: !transposeB, scale });
    const flat = b!.shape.length === 2 && !transposeA;
    const left = flat ? rows(a!) : a!;
    const right = flat ? rows(g) : g;
    const toB = transposeB
      ? matmul(right, left, { transposeA: true, transposeB: transposeA, scale })
      : matmul(left, right, { transposeA: !transposeA, scale });
    return [sumTo(toA, a!.shape), sumTo(toB, b!.shape)];
  },
  onnx: (y, inputs, emit) => {
    const { transposeA, transposeB, scale } = y.attributes;
    const rows = y.shape[0]!;
    const tile = emit.rowTile && Math.min(emit.rowTile, rows);
    // one row takes other code, which sums in another order
    if (tile && rows > 1 && isLinear(y) && rows % tile === 0) return inTiles(y, inputs, emit, tile);
    return transposeA || transposeB || scale !== 1
      ? emit.node(
          "FusedMatMul",
          inputs,
          {
            alpha: { float: scale },
            transA: { int: Number(transposeA) },
            transB: { int: Number(transposeB) },
          },
          "com.microsoft",
        )
      : emit.node("MatMul", inputs);
  },
  wgsl: {
    kind: "product",
    attributes: (y) => y.attributes,
  },
  reference: (y, [a, b]) => {
    const { transposeA, transposeB, scale } = y.attributes;
    const [sa, sb] = y.inputs.map((x) => x.shape) as [Shape, Shape];
    const batch = y.shape.slice(0, -2);
    const [m, k] = swapIf(transposeA, sa.slice(-2));
    const n = y.shape.at(-1)!;
    const left = expand(a!, sa, [...batch, ...sa.slice(-2)]);
    const right = expand(b!, sb, [...batch, ...sb.slice(-2)]);
    const result = new Float64Array(sizeOf(y.shape));
    for (let s = 0; s < sizeOf(batch); s++) {
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let total = 0;
          for (let l = 0; l < k; l++) {
            const x = left[s * m * k + (transposeA ? l * m + i : i * k + l)]!;
            total += x * right[s * k * n + (transposeB ? j * k + l : l * n + j)]!;
          }
          result[(s * m + i) * n + j] = scale * total;
        }
      }
    }
    return result;
  },
};

/** Whether it is `x Wᵀ` with two matrices. */
const isLinear = ({ inputs, attributes }: Tensor<Required<MatmulOptions>>): boolean =>
  inputs.every((x) => x.shape.length === 2) && !attributes.transposeA && attributes.transposeB;

/** Elements of the second factor that ONNX Runtime packs at once: MLAS_SGEMM_STRIDEN × MLAS_SGEMM_STRIDEK. */
const packedAtOnce = 128 * 128;

/**
 * Doubles the tile while it fits into one packed block, since W is read once per tile. A block that holds all of K makes
 * every sum a single run over K, whatever the width.
 */
function widened(tile: number, M: number, K: number): number {
  let wide = tile;
  while (M % (2 * wide) === 0 && 2 * wide * K <= packedAtOnce) wide *= 2;
  return wide;
}

/**
 * Fewer rows of W than two for each of 16 threads, such as an adapter's: in a product with few columns, ONNX Runtime splits the rows of
 * W among threads, and a thread with a single row sums in another order. So that product gets the shape that it has in a whole tile.
 */
const fewWeights = 32;

/** A product of few rows with few weights: among the rows of a whole tile, as it is computed beside others. */
function ofWholeTile([x, w]: readonly [string, string], M: number, scale: number, emit: Emit): string {
  const padded = emit.node("Pad", [x, emit.list([0, 0, emit.rowTile! - M, 0])]);
  const columns = product(w, padded, scale, emit);
  const own = emit.node("Slice", [columns, emit.list([0]), emit.list([M]), emit.list([1])]);
  return emit.node("Transpose", [own], { perm: { ints: [1, 0] } });
}

/** W xᵀ. */
const product = (w: string, x: string, scale: number, emit: Emit): string =>
  emit.node(
    "FusedMatMul",
    [w, x],
    { alpha: { float: scale }, transA: { int: 0 }, transB: { int: 1 } },
    "com.microsoft",
  );

/** See `CompileOptions.rowTile`. */
function inTiles(
  y: Tensor<Required<MatmulOptions>>,
  [x, w]: readonly string[],
  emit: Emit,
  rowTile: number,
): string {
  const [M, N] = y.shape as [number, number];
  const K = y.inputs[0]!.shape[1]!;
  if (M < emit.rowTile! && N < fewWeights) return ofWholeTile([x!, w!], M, y.attributes.scale, emit);
  const tile = widened(rowTile, M, K);
  const reshaped = (value: string, shape: readonly number[]): string =>
    tile === M ? value : emit.node("Reshape", [value, emit.list(shape)]);
  const columns = product(w!, reshaped(x!, [M / tile, tile, K]), y.attributes.scale, emit);
  const turned = emit.node("Transpose", [columns], { perm: { ints: tile === M ? [1, 0] : [0, 2, 1] } });
  return reshaped(turned, [M, N]);
}

/** Flattens all leading axes into one. */
const rows = (x: Tensor): Tensor => reshape(x, [sizeOf(x.shape.slice(0, -1)), x.shape.at(-1)!]);

/**
 * Matrix product over the last two axes; the axes before them broadcast.
 * @param a shape [..., m, k], or [..., k, m] with transposeA.
 * @param b shape [..., k, n], or [..., n, k] with transposeB.
 * @returns shape [..., m, n].
 */
export function matmul(a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
  const attributes = {
    transposeA: options.transposeA ?? false,
    transposeB: options.transposeB ?? false,
    scale: options.scale ?? 1,
  };
  requireDType("matmul", "the first argument", a, "float32");
  requireDType("matmul", "the second argument", b, "float32");
  const [m, k] = swapIf(attributes.transposeA, a.shape.slice(-2));
  const [k2, n] = swapIf(attributes.transposeB, b.shape.slice(-2));
  if (a.shape.length < 2 || b.shape.length < 2 || k !== k2) {
    const flag = (on: boolean) => (on ? " transposed" : "");
    throw new TensorError("matmul", {
      got: `shapes ${show(a.shape)}${flag(attributes.transposeA)} and ${show(b.shape)}${flag(attributes.transposeB)}`,
      expected: "at least two axes each and equal inner lengths",
      fix: "Swap or reshape axes, or set transposeA or transposeB.",
    });
  }
  const batch = broadcastShapes("matmul", a.shape.slice(0, -2), b.shape.slice(0, -2));
  return node(operation, [a, b], attributes, [...batch, m, n]);
}

/** The factors of a product of two matrices, if the tensor is one. */
export function factors(
  t: Tensor,
): { readonly a: Tensor; readonly b: Tensor; readonly options: MatmulOptions } | undefined {
  const isProduct = (x: Tensor): x is Tensor<Required<MatmulOptions>> => x.op === (operation as Operation);
  if (!isProduct(t) || t.inputs.some((x) => x.shape.length !== 2)) return undefined;
  return { a: t.inputs[0]!, b: t.inputs[1]!, options: t.attributes };
}
