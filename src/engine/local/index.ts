/** The local engine: decoder-only transformers trained in this process by ONNX Runtime, off the main thread. */
import { availableParallelism } from "node:os";
import { WhetstoneError } from "../../core/errors.ts";
import { randomStream } from "../../core/random.ts";
import type { Engine, ModelRequest } from "../engine.ts";
import { mostThreads } from "./batch-sizes.ts";
import { type ModelFolder, readCheckpoint } from "./checkpoint.ts";
import { chatCodec } from "./codec.ts";
import { type DecoderConfig, type DecoderSize, plain } from "./config.ts";
import { startHost } from "./host.ts";
import { localCapabilities, localModel } from "./model.ts";
import { type Architecture, initialWeights } from "./parameters.ts";
import { openPublished, type PublishedOptions } from "./published.ts";
import { byteTokenizer, withoutOrigin, wordTokenizer } from "./tokenizer.ts";

export type { DecoderConfig, DecoderSize } from "./config.ts";
export { type FetchOptions, type FetchProgress, fetchModel } from "./hub.ts";
export type { PublishedOptions } from "./published.ts";

/** A model whose weights begin random. */
export interface ScratchOptions {
  readonly from?: never;
  readonly size?: DecoderSize;
  /** "words": one id per word of the environment's lexicon. "bytes": any text. */
  readonly tokenizer?: "words" | "bytes";
}

/** A model that begins from a checkpoint, with that one's shape, tokenizer and conversation form. */
export interface CheckpointOptions extends PublishedOptions {
  readonly size?: never;
  readonly tokenizer?: never;
}

export interface RunOptions {
  /** Threads within an operation, 1 to 16. Default: one per core. Another count may change the last bits of a run. */
  readonly threads?: number;
  /** Most tokens of one micro-batch, padding included. Default 4096. */
  readonly microBatchTokens?: number;
}

export type LocalOptions = RunOptions & (ScratchOptions | CheckpointOptions);

function noHeads(heads: readonly string[]): WhetstoneError {
  return new WhetstoneError("capability.missing", {
    where: "local engine",
    got: `a wish for the value heads ${heads.join(", ")}`,
    expected: "a model without value heads",
    mend: "Choose a method without a critic, or the tabular engine.",
  });
}

/** About 0.4 M parameters with a vocabulary of 900 words. */
export const smallDecoder: DecoderSize = { width: 128, layers: 2, heads: 2, kvHeads: 2, feedForward: 256 };

function requireSize({ width, layers, heads, kvHeads, feedForward }: DecoderSize): void {
  const whole = [width, layers, heads, kvHeads, feedForward].every((n) => Number.isInteger(n) && n > 0);
  if (whole && width % heads === 0 && (width / heads) % 2 === 0 && heads % kvHeads === 0) return;
  throw new WhetstoneError("option.range", {
    where: "localEngine size",
    got: `width ${width}, layers ${layers}, heads ${heads}, kvHeads ${kvHeads}, feedForward ${feedForward}`,
    expected: "positive whole numbers, an even width per head, and heads divisible by kvHeads",
    mend: "For example width 128, layers 2, heads 2, kvHeads 2, feedForward 256.",
  });
}

function requireThreads(threads: number): number {
  if (Number.isInteger(threads) && threads >= 1 && threads <= mostThreads) return threads;
  throw new WhetstoneError("option.range", {
    where: "localEngine threads",
    got: `${threads}`,
    expected: `a whole number from 1 to ${mostThreads}`,
    mend: "Leave it out for one per core.",
  });
}

/** A model of random weights, for the words that the request names or for any text. */
function scratchModel(
  { size = smallDecoder, tokenizer: kind }: ScratchOptions,
  { id, seed, lexicon, contextTokens }: ModelRequest,
): ModelFolder {
  const tokenizer = kind === "bytes" ? byteTokenizer() : wordTokenizer(lexicon);
  const config: DecoderConfig = {
    ...plain,
    ...size,
    vocabulary: chatCodec(tokenizer).vocabulary,
    headWidth: size.width / size.heads,
    ropeTheta: 10_000,
    epsilon: 1e-5,
    contextTokens,
    tied: true,
  };
  return { config, tokenizer, weights: initialWeights(config, randomStream(seed).split("weights", id)) };
}

export function localEngine(options: LocalOptions = {}): Engine {
  if (options.size) requireSize(options.size);
  const places = options.microBatchTokens ?? 2048;
  const host = startHost(requireThreads(options.threads ?? Math.min(mostThreads, availableParallelism())));
  return {
    name: "local",
    can: localCapabilities,
    async create(request: ModelRequest) {
      const { id, contextTokens, heads = [] } = request;
      if (heads.length > 0) throw noHeads(heads);
      const { config, tokenizer, weights } =
        options.from === undefined
          ? scratchModel(options, request)
          : await openPublished(options, contextTokens);
      const architecture: Architecture = { config, heads: [] };
      const contents = { weights, steps: 0, version: 0 };
      const handle = await host.call("create", architecture, withoutOrigin(tokenizer), contents);
      return localModel(id, { host, architecture, tokenizer, places }, handle, 0);
    },
    async open(id, folder) {
      const { config, tokenizer, contents } = await readCheckpoint(folder);
      const architecture: Architecture = { config, heads: [] };
      const handle = await host.call("create", architecture, withoutOrigin(tokenizer), contents);
      return localModel(id, { host, architecture, tokenizer, places }, handle, contents.version);
    },
    dispose: () => host.close(),
  };
}
