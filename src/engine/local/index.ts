/** The local engine: decoder-only transformers trained in this process by ONNX Runtime, off the main thread. */
import { availableParallelism, totalmem } from "node:os";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec, Model } from "../../core/model.ts";
import { type Random, randomStream } from "../../core/random.ts";
import type { Engine, ModelRequest } from "../engine.ts";
import { type BaseModel, baseOf } from "./base.ts";
import { mostThreads } from "./batchSizes.ts";
import { readCheckpoint, withoutAdapter } from "./checkpoint.ts";
import { chatCodec } from "./codec.ts";
import type { DecoderConfig } from "./config.ts";
import { contextOf } from "./contextPlan.ts";
import { type Device, requireDevice } from "./devices.ts";
import { startHost } from "./host.ts";
import { folderOf, type PublishedOptions } from "./locate.ts";
import { localCapabilities, localModel } from "./model.ts";
import { gridOf, placesFor } from "./packing.ts";
import {
  type Adapter,
  type Architecture,
  adapterParameters,
  firstWeights,
  headParameters,
  type Projection,
  projections,
  type Weights,
} from "./parameters.ts";
import { readPeft } from "./peft.ts";
import type { Precision } from "./precision.ts";
import type { ModelContents } from "./protocol.ts";
import { openPublished } from "./published.ts";
import { readCodec } from "./readCodec.ts";
import { type Reader, startReader } from "./reader.ts";
import { requireSize, type ScratchOptions, scratchModel } from "./scratch.ts";
import { type TokenizerFiles, wordTokenizer } from "./tokenizer.ts";

export type { DecoderConfig, DecoderSize } from "./config.ts";
export { contextOf, plannedContext, servedContext } from "./contextPlan.ts";
export { type DeviceFinding, devices, tryDevice } from "./devices.ts";
export { type AdapterOf, exportAdapter, exportGguf, exportWeights, type PackedType } from "./export.ts";
export { type FetchOptions, type FetchProgress, fetchModel } from "./hub.ts";
export type { PublishedOptions } from "./locate.ts";
export type { Projection } from "./parameters.ts";
export { type ScratchOptions, smallDecoder } from "./scratch.ts";

/** A model that starts from a checkpoint, with its shape, tokenizer and chat template. */
export interface CheckpointOptions extends PublishedOptions {
  readonly size?: never;
  readonly tokenizer?: never;
}

/** An adapter to train in place of the weights themselves. */
export type LoraOptions =
  | {
      readonly from?: never;
      /** Default 16. */
      readonly rank?: number;
      /** The adapter's output is scaled by alpha / rank. Default twice the rank. */
      readonly alpha?: number;
      /** Projections that get an adapter in every layer. Default all seven. */
      readonly targets?: readonly Projection[];
    }
  | {
      /** A folder with an adapter in PEFT's form, to train further. */
      readonly from: string;
    };

/** How the engine computes and what it trains, whether the model starts from scratch or from a checkpoint. */
export interface ComputeOptions {
  /** The adapter to train. Without it, all weights are trained. */
  readonly lora?: LoraOptions;
  /** Device to compute on. Default "cpu". `tryDevice` tells whether one works. */
  readonly device?: Device;
  /** Of products on a GPU: "f16" uses tensor cores where the adapter has them. Default "f32". */
  readonly precision?: Precision;
  /** Threads within an operation, 1 to 16. Default: one per core. Another number may change the last bits of a run. */
  readonly threads?: number;
  /**
   * Bytes for the activations of a micro-batch; a larger batch is split into several. Default: an eighth of the
   * machine's memory, at most 1 GiB; on a GPU 4 GiB.
   */
  readonly memory?: number;
  /** Maximum tokens of one micro-batch, padding included. Overrides `memory`. */
  readonly microBatchTokens?: number;
  /**
   * Bytes for keys and values of earlier prompts and replies, for each model: a prompt that begins like one of them is read from
   * there on. For serving: replies then agree up to rounding, whatever was asked before. Default 0, with which they agree to the
   * last bit.
   */
  readonly prefixCache?: number;
  /**
   * Whether opened models have their adapters merged in. For serving: replies take less time, and agree up to rounding. Such a
   * model has no optimiser's state, and cannot `load` a checkpoint with an adapter. Default false: the adapter is trained further.
   */
  readonly merged?: boolean;
}

/**
 * Settings of {@link localEngine}. Without `from`, models have random initial weights, by default of the size {@link
 * smallDecoder} with the tokenizer "words".
 */
export type LocalOptions = ComputeOptions & (ScratchOptions | CheckpointOptions);

function requireThreads(threads: number): number {
  if (Number.isInteger(threads) && threads >= 1 && threads <= mostThreads) return threads;
  throw new WhetstoneError("option.range", {
    where: "localEngine threads",
    got: `${threads}`,
    expected: `a whole number from 1 to ${mostThreads}`,
    fix: "Leave it out for one per core.",
  });
}

function requireLora(lora: LoraOptions): void {
  if (lora.from !== undefined) return;
  const { rank = 16, alpha = 2 * rank, targets = projections } = lora;
  const strange = targets.find((t) => !projections.includes(t));
  if (Number.isInteger(rank) && rank > 0 && alpha > 0 && targets.length > 0 && !strange) return;
  throw new WhetstoneError("option.range", {
    where: "localEngine lora",
    got: `rank ${rank}, alpha ${alpha}, targets ${targets.join(", ") || "none"}`,
    expected: `a whole rank from 1, an alpha above 0, targets among ${projections.join(", ")}`,
    fix: "For example { rank: 16 }, which has alpha 32 and all projections.",
  });
}

function requireMemory(memory: number): number {
  if (memory >= 2 ** 20) return memory;
  throw new WhetstoneError("option.range", {
    where: "localEngine memory",
    got: `${memory} bytes`,
    expected: "at least 1 MiB",
    fix: "Leave it out for an eighth of the machine's memory, at most 1 GiB.",
  });
}

function requirePrecision(precision: Precision, device: Device): void {
  if (precision === "f32" || (precision === "f16" && device === "gpu")) return;
  throw new WhetstoneError("option.range", {
    where: "localEngine precision",
    got: `${precision} on ${device}`,
    expected: "f32, or f16 with the device gpu",
    fix: "Leave it out for f32.",
  });
}

/** The requested adapter, newly initialised or read from its folder. */
async function adapterFor(
  lora: LoraOptions,
  config: DecoderConfig,
  random: Random,
): Promise<{ readonly adapter: Adapter; readonly tensors: Weights }> {
  if (lora.from !== undefined) return readPeft(lora.from, config);
  const { rank = 16, alpha = 2 * rank, targets = projections } = lora;
  const adapter = { rank, alpha, targets: projections.filter((p) => targets.includes(p)) };
  return { adapter, tensors: firstWeights(adapterParameters(config, adapter), random) };
}

/** The codec of the engine's models, without creating a model. @param vocabulary vocabulary of a model from random weights. */
export const localCodec = async (from: string | undefined, vocabulary: readonly string[]): Promise<Codec> =>
  from === undefined ? chatCodec(wordTokenizer(vocabulary)) : await readCodec(await folderOf({ from }));

/** @throws WhetstoneError `option.range`, `device.missing`. */
export function localEngine(options: LocalOptions = {}): Engine {
  const {
    lora,
    device = "cpu",
    threads = Math.min(mostThreads, availableParallelism()),
    memory = device === "gpu" ? 2 ** 32 : Math.min(2 ** 30, totalmem() / 8),
    precision = "f32",
    prefixCache = 0,
    merged = false,
  } = options;
  if (options.size) requireSize(options.size);
  if (lora) requireLora(lora);
  requireMemory(memory);
  const ready = requireDevice(device);
  ready.catch(() => undefined); // the first call reports it
  requirePrecision(precision, device);
  const host = startHost({
    threads: requireThreads(threads),
    device,
    precision,
    memory,
    prefixBytes: device === "gpu" ? 0 : prefixCache,
  });
  const readers: Reader[] = [];
  const made = async (
    id: string,
    architecture: Architecture,
    tokenizer: TokenizerFiles,
    contents: ModelContents,
    base?: BaseModel,
  ): Promise<Model> => {
    await ready;
    const places = options.microBatchTokens ?? placesFor(architecture, memory, device);
    const codec = chatCodec(tokenizer);
    const { padId, endId } = codec;
    const handle = await host.call("create", architecture, { padId, endId }, contents);
    const reader = startReader(tokenizer);
    readers.push(reader);
    return localModel(
      id,
      { host, architecture, tokenizer, codec, reader, places, grid: gridOf(device) },
      handle,
      {
        version: contents.version,
        base,
      },
    );
  };
  return {
    name: "local",
    can: localCapabilities,
    ...(options.from !== undefined && { contextTokens: () => contextOf(options, options.memory) }),
    async create(request: ModelRequest) {
      const { id, seed, contextTokens, heads = [] } = request;
      const { config, tokenizer, weights } =
        options.from === undefined
          ? scratchModel(options, request)
          : await openPublished(options, contextTokens);
      const random = randomStream(seed).split("adapter", id);
      const adapted = lora && (await adapterFor(lora, config, random));
      const architecture: Architecture = { config, heads, ...(adapted && { adapter: adapted.adapter }) };
      const first = firstWeights(headParameters(config, heads), random);
      const all: Weights = new Map([...weights, ...(adapted?.tensors ?? []), ...first]);
      const base = adapted && options.from !== undefined ? await baseOf(options, config, weights) : undefined;
      return made(id, architecture, tokenizer, { weights: all, steps: 0, version: 0 }, base);
    },
    async open(id, folder) {
      const read = await readCheckpoint(folder);
      const { architecture, tokenizer, contents, base } = merged ? withoutAdapter(read) : read;
      return made(id, architecture, tokenizer, contents, base);
    },
    async dispose() {
      for (const reader of readers) reader.close();
      await host.close();
    },
  };
}
