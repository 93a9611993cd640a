/** What is measured: model sizes, and token rows and prompts from fixed seeds that all sides get alike. */
import { type Random, randomStream } from "../src/core/random.ts";
import type { DecoderSize } from "../src/engine/local/config.ts";

export interface BenchSize {
  readonly decoder: DecoderSize;
  /** Special tokens of the words tokenizer included. */
  readonly vocabulary: number;
}

const square = (width: number, layers: number, feedForward: number): DecoderSize => ({
  width,
  layers,
  heads: width / 64,
  kvHeads: width / 64,
  feedForward,
});

/** Named after their parameters; tied embeddings, heads of 64. "135M" has the shape of SmolLM2-135M. */
export const sizes = {
  "0.5M": { decoder: square(128, 2, 384), vocabulary: 1024 },
  "3.5M": { decoder: square(256, 4, 688), vocabulary: 512 },
  "25M": { decoder: square(512, 8, 1280), vocabulary: 2048 },
  "135M": { decoder: { width: 576, layers: 30, heads: 9, kvHeads: 3, feedForward: 1536 }, vocabulary: 49152 },
} as const satisfies Record<string, BenchSize>;

export type SizeName = keyof typeof sizes;
export const sizeNames = Object.keys(sizes) as SizeName[];
/** The largest takes hours with all peers and is measured on request. */
export const usualSizes = sizeNames.filter((name) => name !== "135M");

/** Longest sequence of every model here, in tokens. */
export const contextTokens = 256;

/** Ids below this one are the tokenizer's markers. */
export const firstWord = 7;

/** Words that make the tokenizer's vocabulary as large as wanted; "w0" gets some id from {@link firstWord} on. */
export const vocabularyOf = (vocabulary: number): string[] =>
  Array.from({ length: vocabulary - firstWord }, (_, i) => `w${i}`);

/** A row whose tokens from position `from` on are targets. Rows of one group share their first `from` tokens. */
export interface TargetRow {
  readonly tokens: readonly number[];
  readonly from: number;
  readonly group: string;
}

export type WorkloadName = "dense" | "rollouts";

const between = (random: Random, low: number, high: number): number => low + random.below(high - low + 1);

function words(random: Random, vocabulary: number, count: number): number[] {
  return Array.from({ length: count }, () => between(random, firstWord, vocabulary - 1));
}

/** Rows of one length with every token a target. */
export function denseRows(vocabulary: number, rows = 32, length = 128): TargetRow[] {
  return Array.from({ length: rows }, (_, r) => ({
    tokens: words(randomStream(1).split("dense", r), vocabulary, length),
    from: 1,
    group: `row ${r}`,
  }));
}

/** 16 prompts of 48 to 96 tokens, 8 replies of 8 to 64 tokens to each; only replies are targets. */
export function rolloutRows(vocabulary: number): TargetRow[] {
  return Array.from({ length: 16 }, (_, group) => {
    const random = randomStream(2).split("rollouts", group);
    const prompt = words(random, vocabulary, between(random, 48, 96));
    return Array.from({ length: 8 }, () => ({
      tokens: [...prompt, ...words(random, vocabulary, between(random, 8, 64))],
      from: prompt.length,
      group: `prompt ${group}`,
    }));
  }).flat();
}

/** Eight rows of 9 to 24 tokens, others for each number. */
export function tinyRows(vocabulary: number, index: number): TargetRow[] {
  return Array.from({ length: 8 }, (_, r) => {
    const random = randomStream(5).split("tiny", index, r);
    const tokens = words(random, vocabulary, between(random, 9, 24));
    return { tokens, from: between(random, 4, 8), group: `row ${r}` };
  });
}

export const workloads: Readonly<Record<WorkloadName, (vocabulary: number) => TargetRow[]>> = {
  dense: denseRows,
  rollouts: rolloutRows,
};

/** Prompts of one length, each `copies` times in a row. */
export function samplePrompts(vocabulary: number, distinct: number, copies: number, length = 32): number[][] {
  return Array.from({ length: distinct }, (_, p) => {
    const prompt = words(randomStream(3).split("prompt", p), vocabulary, length);
    return Array.from({ length: copies }, () => prompt);
  }).flat();
}

/** What users ask in the iteration bench: texts of 48 to 96 words. */
export function taskTexts(vocabulary: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const random = randomStream(4).split("task", i);
    return Array.from(
      { length: between(random, 48, 96) },
      () => `w${random.below(vocabulary - firstWord)}`,
    ).join(" ");
  });
}

/**
 * Floating-point operations of one training pass over rows, backward twice the forward: products with weights, logits
 * at the targets only, and attention over the tokens before each token.
 */
export function trainingFlops({ decoder, vocabulary }: BenchSize, rows: readonly TargetRow[]): number {
  const { width, layers, heads, kvHeads, feedForward } = decoder;
  const kv = (width / heads) * kvHeads;
  const perToken = layers * (2 * width * width + 2 * width * kv + 3 * width * feedForward);
  return rows.reduce((sum, { tokens, from }) => {
    const T = tokens.length;
    const attention = layers * width * T * (T + 1); // two products over half of T × T
    return sum + 6 * (perToken * T + vocabulary * width * (T - from)) + 6 * attention;
  }, 0);
}
