/** What products are made of, and what all of their kernels share. */
import { type Shape, sizeOf } from "../shape.ts";
import { broadcastStrides, strided } from "./code.ts";

export interface ProductShape {
  readonly M: number;
  readonly N: number;
  readonly K: number;
  /** Leading axes of the result, and of each factor. */
  readonly batch: { readonly of: Shape; readonly a: Shape; readonly b: Shape };
  /** Whether a is stored [K, M]. */
  readonly transposeA: boolean;
  /** Whether b is stored [N, K]. */
  readonly transposeB: boolean;
  readonly scale: number;
  /** Into how many parts the sum over K is split; the result is then [splits, M, N], one for each part. */
  readonly splits: number;
  /** What the product is added to: nothing, what the result holds, or a fourth buffer. */
  readonly plus: "nothing" | "result" | "residual";
}

/** What products may use. */
export interface ProductOptions {
  /** Bytes of memory that a workgroup shares. */
  readonly sharedBytes: number;
  /** "none": a thread for each element, which compiles quickly where there is no GPU. */
  readonly tiles: "large" | "none";
  /** "f16": factors are rounded to 16 bits for tensor cores, where the shape allows it; sums stay in 32. */
  readonly precision: "f32" | "f16";
  /** Whether products have few rows, as when replies are sampled. */
  readonly fewRows?: boolean;
  /** Whether tiles for tensor cores are arrays of vectors, which some drivers read wrongly. */
  readonly packed: boolean;
}

export interface ProductKernel {
  readonly code: string;
  readonly groups: readonly [number, number, number];
}

export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
export const over = (n: number, by: number): number => Math.ceil(n / by);

/** Outputs have room for a multiple of this many rows: kernels for tensor cores fill whole tiles. */
export const rowPadding = 384;

/** Bytes of the memory for an output of this shape: whole tiles of rows fit. */
export function roomFor(shape: Shape): number {
  const bytes = 4 * sizeOf(shape);
  if (shape.length !== 2) return bytes;
  return (bytes / shape[0]!) * Math.ceil(shape[0]! / rowPadding) * rowPadding;
}

/** Where a factor's matrix, or its part of the sum over K, begins, in elements. */
export function baseOf(
  { alongK, pitch, length }: Side,
  lead: Shape,
  { K, batch, splits }: ProductShape,
): string {
  if (splits > 1) return `wg.z * ${(K / splits) * (alongK ? 1 : pitch)}u`;
  return `(${strided("wg.z", batch.of, broadcastStrides(lead, batch.of))}) * ${length * K}u`;
}

/** Numbers over which each part of a product adds up. */
export const depthOf = ({ K, splits }: ProductShape): number => K / splits;
/** Matrices of the result. */
export const countOf = ({ batch, splits }: ProductShape): number => sizeOf(batch.of) * splits;

/** One factor as a tile loader sees it. */
export interface Side {
  readonly name: "a" | "b";
  /** Whether neighbours in memory are neighbours along k. */
  readonly alongK: boolean;
  /** Elements between neighbours along the other axis. */
  readonly pitch: number;
  /** Length along M or N, and of the tile. */
  readonly length: number;
  readonly block: number;
  /** WGSL names of the tile's first row or column, and of the matrix's first element. */
  readonly start: string;
  readonly base: string;
  /** Whether four neighbours can be read at once. */
  readonly wide: boolean;
}

/** The two factors of a product in tiles of BM rows and BN columns. */
export function sidesOf(s: ProductShape, BM: number, BN: number): readonly [Side, Side] {
  const { M, N, K, transposeA, transposeB } = s;
  const pitchA = transposeA ? M : K;
  const pitchB = transposeB ? K : N;
  return [
    {
      name: "a",
      alongK: !transposeA,
      pitch: pitchA,
      length: M,
      block: BM,
      start: "m0",
      base: "baseA",
      wide: pitchA % 4 === 0,
    },
    {
      name: "b",
      alongK: transposeB,
      pitch: pitchB,
      length: N,
      block: BN,
      start: "n0",
      base: "baseB",
      wide: pitchB % 4 === 0,
    },
  ];
}

/** A residual is bound before the result, which is always last. */
export const bindingsOfResult = ({ plus }: ProductShape, element: string): string =>
  plus === "residual"
    ? `@group(0) @binding(2) var<storage, read> r: array<${element}>;
@group(0) @binding(3) var<storage, read_write> c: array<${element}>;`
    : `@group(0) @binding(2) var<storage, read_write> c: array<${element}>;`;
