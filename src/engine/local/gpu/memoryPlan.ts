/** What training a model takes of a GPU's memory, worked out from its graphs before anything of it is allocated. */
import { gibibytes } from "../../../common/text/gibibytes.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { ModelsBeside } from "../../../core/model.ts";
import type { Port } from "../../../tensor/compile.ts";
import type { Gpu } from "../../../tensor/wgsl/device.ts";
import { type Plan, plan } from "../../../tensor/wgsl/plan.ts";
import { roomFor } from "../../../tensor/wgsl/products.ts";
import { planOptionsOf } from "../../../tensor/wgsl/program.ts";
import { decodeRows, prefillRows, promptPlaces, servingPlaces } from "../batchSizes.ts";
import { bytesOfTokens, cacheNames } from "../cache.ts";
import type { DecoderConfig } from "../config.ts";
import { largestShapes, placesFor } from "../packing.ts";
import type { MemoryPlan, MemoryUse } from "../protocol.ts";
import { type GpuSettings, type Kind, programsOf } from "./kind.ts";

const sum = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0);
const roomOf = (ports: readonly Port[]): number => sum(ports.map((p) => roomFor(p.shape)));

/** Bytes of buffers that programs share, each as large as the largest that a program has at its rank. */
function shared(programs: readonly Plan[]): number {
  const ranks: number[] = [];
  for (const { temporaries } of programs)
    temporaries
      .toSorted((a, b) => b - a)
      .forEach((bytes, rank) => {
        ranks[rank] = Math.max(ranks[rank] ?? 0, bytes);
      });
  return sum(ranks);
}

/** Bytes that a program has for itself: what it is fed from outside, and results that nobody gives it memory for. */
const own = ({ inputs, outputs, constants }: Plan, held: ReadonlySet<string>): number =>
  roomOf([...inputs, ...outputs].filter(({ name }) => !held.has(name))) +
  sum(constants.map(({ data }) => 4 * data.length));

/** The size before the one that n takes, where sizes grow in steps; 0 for the first. */
function before(n: number, sizeOf: (n: number) => number): number {
  for (let less = n; less > 0; less--) if (sizeOf(less) < sizeOf(n)) return sizeOf(less);
  return 0;
}

/** Bytes of keys and values: those that rows read on from, those that they grow out of, and those of prompts that are being read. */
function cacheBytes(c: DecoderConfig, { rows, tokens }: MemoryUse): number {
  const [slots, places] = [decodeRows(rows), servingPlaces(tokens)];
  const smaller = Math.max(before(rows, decodeRows) * places, slots * before(tokens, servingPlaces));
  const T = promptPlaces(tokens);
  return bytesOfTokens(c, slots * places + smaller + prefillRows(rows, T).B * T);
}

const noneBeside: ModelsBeside = { created: 0, copied: 0, frozen: 0, apart: false };

/**
 * What training takes at most: the model with its optimiser, those beside it, the largest micro-batch with log-probabilities and
 * entropies, and the rows that sample at once. A group of rows that a loss needs together and that is larger than a micro-batch is not
 * in it.
 */
export async function memoryPlan(
  { a, units, trained }: Pick<Kind, "a" | "units" | "trained">,
  use: MemoryUse,
  gpu: PlannedGpu,
  settings: GpuSettings,
): Promise<MemoryPlan> {
  const { scoring, sampling } = programsOf<Plan>(a, settings, (of) => ({
    make: async (inputs, outputs, updates) =>
      plan(inputs, outputs, planOptionsOf(gpu, { ...of, ...(updates && { updates }) })),
    release: async () => {},
  }));
  const programs: Plan[] = [];
  const held = new Set([...units.flatMap(({ name }) => [name, `into.${name}`]), ...cacheNames(a.config)]);
  let most = 0;
  const buffers: number[] = units.map((u) => 4 * u.length);
  const wanted = { entropy: true, topk: 0, at: 0, heads: a.heads, hidden: [] };
  for (const shape of largestShapes(a.config, use)) {
    const { forward, outputs, kept, backward } = await scoring.train({ ...shape, wanted });
    programs.push(forward, await backward(outputs.map((p) => p.name)));
    for (const { name } of kept) held.add(name).add(`kept.${name}`);
    most = Math.max(most, roomOf(kept));
    buffers.push(...kept.map((p) => roomFor(p.shape)));
  }
  const T = promptPlaces(use.tokens);
  programs.push(await sampling.prefill(prefillRows(use.rows, T).B, T, decodeRows(use.rows), "drawn"));
  programs.push(await sampling.decode(decodeRows(use.rows), servingPlaces(use.tokens), "drawn"));
  const weights = 4 * sum(units.map((u) => u.length));
  const gradients = 4 * sum(trained.map((u) => u.length));
  const { created, copied, frozen, apart } = use.beside ?? noneBeside;
  const parts = {
    weights,
    gradients,
    moments: 2 * gradients,
    // a copy shares what is not trained; models compute one after the other, in the same memory
    beside:
      created * (weights + 3 * gradients) + copied * 4 * gradients + frozen * (apart ? weights : gradients),
    activations: most + shared(programs) + sum(programs.map((program) => own(program, held))),
    caches: cacheBytes(a.config, use),
  };
  for (const { temporaries, inputs, outputs } of programs) {
    const apart = [...inputs, ...outputs].filter(({ name }) => !held.has(name));
    buffers.push(...temporaries, ...apart.map((p) => roomFor(p.shape)));
  }
  const { kvHeads, headWidth } = a.config;
  buffers.push(4 * decodeRows(use.rows) * servingPlaces(use.tokens) * kvHeads * headWidth);
  return { ...parts, kept: most, whole: sum(Object.values(parts)), largest: Math.max(...buffers) };
}

/** What plans need of a GPU. */
export type PlannedGpu = Pick<Gpu, "adapter" | "bindings" | "sharedBytes" | "cores" | "hasRoom">;

/** Halvings of the memory for activations that are tried where the planned one does not fit. */
const halvings = 5;

/**
 * The plan of what fits.
 * @param inUse bytes of it that are in use already. @throws WhetstoneError `device.full`, with what would fit.
 */
export async function requireDeviceMemory(
  kind: Pick<Kind, "a" | "units" | "trained">,
  use: MemoryUse,
  inUse: number,
  gpu: PlannedGpu,
  settings: GpuSettings,
): Promise<MemoryPlan> {
  const fits = async ({ whole, largest }: MemoryPlan): Promise<boolean> =>
    largest <= gpu.adapter.largest && (await gpu.hasRoom(whole - inUse));
  const planned = await memoryPlan(kind, use, gpu, settings);
  if (await fits(planned)) return planned;
  const { weights, gradients, moments, beside, activations, caches } = planned;
  const parts = Object.entries({ weights, gradients, moments, "other models": beside, activations, caches })
    .filter(([, bytes]) => bytes > 0)
    .map(([part, bytes]) => `${part} ${gibibytes(bytes)}`)
    .join(", ");
  const full = (fix: string): WhetstoneError =>
    new WhetstoneError("device.full", {
      where: `local engine on ${gpu.adapter.name}`,
      ...(planned.largest > gpu.adapter.largest
        ? {
            got: `training with an array of ${gibibytes(planned.largest)}`,
            expected: `arrays of at most ${gibibytes(gpu.adapter.largest)}`,
          }
        : {
            got: `training that takes up to ${gibibytes(planned.whole)} (${parts})`,
            expected: "as much as the device can give",
          }),
      fix,
    });
  const others = `${kind.a.adapter ? "use" : "train an adapter (--lora 16), use"} a shorter context (--context-tokens), fewer conversations at once (--concurrency), or a smaller model`;
  const { memory = 0 } = settings;
  // where the number of positions was stated, memory has no say in it
  if (use.places !== placesFor(kind.a, memory, "gpu"))
    throw full(`Use smaller micro-batches (microBatchTokens), ${others}.`);
  for (let k = 1; k <= halvings; k++) {
    const less = Math.floor(memory / 2 ** k);
    const places = placesFor(kind.a, less, "gpu");
    const plan = await memoryPlan(kind, { ...use, places }, gpu, { ...settings, memory: less });
    if (await fits(plan))
      throw full(
        `With --memory ${Math.floor(less / 2 ** 20)} it takes ${gibibytes(plan.whole)}, which fits.`,
      );
  }
  throw full(`Less --memory for activations is not enough: ${others}.`);
}
