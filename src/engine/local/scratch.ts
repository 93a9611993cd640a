/** Models with random initial weights, for the words of an environment or for any text. */
import { WhetstoneError } from "../../core/errors.ts";
import { randomStream } from "../../core/random.ts";
import type { ModelRequest } from "../engine.ts";
import { type DecoderConfig, type DecoderSize, plain } from "./config.ts";
import type { ModelFolder } from "./folder.ts";
import { markerCodec } from "./markerCodec.ts";
import { initialWeights } from "./parameters.ts";
import { byteTokenizer, wordTokenizer } from "./tokenizer.ts";

/** A model with random initial weights. */
export interface ScratchOptions {
  readonly from?: never;
  readonly size?: DecoderSize;
  /** "words": one id per word of the environment's vocabulary. "bytes": any text. */
  readonly tokenizer?: "words" | "bytes";
}

/** About 0.4 M parameters with a vocabulary of 900 words. */
export const smallDecoder: DecoderSize = { width: 128, layers: 2, heads: 2, kvHeads: 2, feedForward: 256 };

/** @throws WhetstoneError `option.range`. */
export function requireSize({ width, layers, heads, kvHeads, feedForward }: DecoderSize): void {
  const whole = [width, layers, heads, kvHeads, feedForward].every((n) => Number.isInteger(n) && n > 0);
  if (whole && width % heads === 0 && (width / heads) % 2 === 0 && heads % kvHeads === 0) return;
  throw new WhetstoneError("option.range", {
    where: "localEngine size",
    got: `width ${width}, layers ${layers}, heads ${heads}, kvHeads ${kvHeads}, feedForward ${feedForward}`,
    expected: "positive whole numbers, an even width per head, and heads divisible by kvHeads",
    fix: "For example width 128, layers 2, heads 2, kvHeads 2, feedForward 256.",
  });
}

/** A model with random weights, for the words of the request's vocabulary or for any text. */
export function scratchModel(
  { size = smallDecoder, tokenizer: kind }: ScratchOptions,
  { id, seed, vocabulary, contextTokens }: ModelRequest,
): ModelFolder {
  const tokenizer = kind === "bytes" ? byteTokenizer() : wordTokenizer(vocabulary);
  const config: DecoderConfig = {
    ...plain,
    ...size,
    vocabulary: markerCodec(tokenizer).vocabulary,
    headWidth: size.width / size.heads,
    ropeTheta: 10_000,
    epsilon: 1e-5,
    contextTokens,
    tied: true,
  };
  return { config, tokenizer, weights: initialWeights(config, randomStream(seed).split("weights", id)) };
}
