/** What an operation tells the WGSL planner. */
import type { Shape } from "../shape.ts";
import type { Code } from "./code.ts";

export type Reduction = "sum" | "max" | "logSumExp";

/** A batched product C = scale · op(A) op(B), row-major; the axes before the last two broadcast. */
export interface ProductAttributes {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly scale: number;
}

/**
 * What a kernel of packed attention computes: what the heads read, the logarithm of each query's softmax denominator, or a
 * gradient.
 */
export type AttentionPart = "read" | "norm" | "dq" | "dk" | "dv";

/** @template Y the node. @template T any tensor. */
export type Lowering<Y, T> =
  /** The value of one element; see {@link Code}. */
  | { readonly kind: "map"; element(y: Y, at: string, code: Code): string }
  /** The numbers of the input, in the same order. */
  | { readonly kind: "view" }
  /** The same values by other operations. */
  | { readonly kind: "rewrite"; as(y: Y): T }
  | {
      readonly kind: "reduce";
      readonly by: Reduction;
      axes(y: Y): readonly number[];
    }
  | { readonly kind: "product"; attributes(y: Y): ProductAttributes }
  /** The first input plus a product of the other two. */
  | { readonly kind: "addProduct"; attributes(y: Y): ProductAttributes }
  /** The first input with rows of the third at the positions that the second lists. */
  | { readonly kind: "scatter" }
  /** Zeros plus rows (second input) at ids (first input); equal ids add up in order. */
  | { readonly kind: "addRows" }
  /** Indices of the largest elements of each row. */
  | { readonly kind: "topIds" }
  /** The index of each row of weights (first input) at which their running sum exceeds a share of the whole (second). */
  | { readonly kind: "drawIds" }
  /** x / √(mean(x²) + ε) · weight over the last axis. */
  | { readonly kind: "rmsNorm"; epsilon(y: Y): number }
  /** Softmax over a short last axis. */
  | { readonly kind: "softmax" }
  /** Attention of one query: q [B, H, 1, d], k and v [B, G, T, d], and a mask. */
  | { readonly kind: "attendOnce"; scale(y: Y): number }
  /** Attention within packed rows, tile by tile. Inputs: those of the operation of this part. */
  | { readonly kind: "packedAttention"; readonly part: AttentionPart; scale(y: Y): number };

/** Length of the last axis; 1 for a scalar. */
export const lastOf = (shape: Shape): number => shape.at(-1) ?? 1;
