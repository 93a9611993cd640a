/** The engine thread: holds models and runs sessions. ONNX Runtime blocks its thread, so nothing else runs here. */
import { parentPort, workerData } from "node:worker_threads";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import type { Port } from "../../tensor/compile.ts";
import type { TypedArray } from "../../tensor/execute.ts";
import type { DecoderConfig } from "./config.ts";
import { leave, nativeWork } from "./gate.ts";
import type { ThreadOptions } from "./host.ts";
import { type Architecture, feedsOf, laidOut, type Weights } from "./parameters.ts";
import { type PrefixCache, prefixCache } from "./prefixCache.ts";
import { type Programs, programs, type ScoringShape } from "./programs.ts";
import type { Calls, Handle, ModelContents, PackedRows, Reply, Request, SpecialTokens } from "./protocol.ts";
import { type RotaryTable, rotaryTable } from "./rotaryTables.ts";
import { type Sampler, sampler } from "./sampler.ts";
import { scheduler } from "./scheduler.ts";
import {
  addInto,
  blend,
  copyOf,
  dot,
  gradientBuffer,
  type ModelState,
  mainGradient,
  optimiserStep,
  trainedNames,
} from "./weights.ts";

interface Held {
  readonly architecture: Architecture;
  readonly marks: SpecialTokens;
  /** Shared with the model's copies. */
  readonly words: Words;
  readonly programs: Programs;
  readonly state: ModelState;
}

/** Created on first use: this takes long, and few requests have stop strings. */
interface Words {
  decode?: Codec["decode"];
}

const { gate, prefixBytes, ...given } = workerData as ThreadOptions;
const options = { ...given, native: nativeWork(gate) };
const port = parentPort!;
const models = new Map<Handle, Held>();
/** Models of one architecture share their programs. */
const programsByShape = new Map<string, Programs>();
const rotaryByShape = new Map<string, RotaryTable>();
/** Samplers of models with open requests. */
const sampling = new Map<Handle, Sampler>();
let nextHandle = 1;
/** What a model's last forward pass kept for its backward pass. */
const kept = new Map<Handle, Kept>();

/** What is known of earlier prompts, for one version of weights each. */
const prefixes = new WeakMap<ModelState, { readonly version: number; readonly cache: PrefixCache }>();

function prefixesOf(config: DecoderConfig, state: ModelState): PrefixCache | undefined {
  if (prefixBytes === 0) return undefined;
  const known = prefixes.get(state);
  if (known?.version === state.version) return known.cache;
  const cache = prefixCache(config, prefixBytes);
  prefixes.set(state, { version: state.version, cache });
  return cache;
}

interface Kept {
  readonly shape: ScoringShape;
  readonly feeds: Record<string, TypedArray>;
  readonly memory: ArrayBuffer;
}

/** Reused buffers for what forward passes keep for backward passes. */
const spare: ArrayBuffer[] = [];

function takeMemory(bytes: number): ArrayBuffer {
  const at = spare.findIndex((memory) => memory.byteLength >= bytes);
  if (at >= 0) return spare.splice(at, 1)[0]!;
  spare.length = 0; // too small for the current shapes
  return new ArrayBuffer(bytes);
}

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

const length = (p: Port): number => p.shape.reduce((a, b) => a * b, 1);
const emptyFor = (p: Port): TypedArray => new arrays[p.dtype](length(p));

/** One array for each output, side by side in memory. */
function laidPorts(ports: readonly Port[]): { memory: ArrayBuffer; arrays: Record<string, TypedArray> } {
  const room = (p: Port): number => Math.ceil((length(p) * arrays[p.dtype].BYTES_PER_ELEMENT) / 64) * 64;
  const memory = takeMemory(ports.reduce((n, p) => n + room(p), 0));
  let at = 0;
  const out: Record<string, TypedArray> = {};
  for (const p of ports) {
    out[p.name] = new arrays[p.dtype](memory, at, length(p));
    at += room(p);
  }
  return { memory, arrays: out };
}

function modelOf(handle: Handle): Held {
  const model = models.get(handle);
  if (model) return model;
  throw new WhetstoneError("engine.failed", {
    where: "local engine",
    got: "a call to a model that was disposed of",
    expected: "a live model",
    fix: "Dispose of a model only after its last use.",
  });
}

/** A model to mix in. @throws WhetstoneError `capability.missing` where it has another architecture. */
function mixable(handle: Handle, own: Programs): Held {
  const other = modelOf(handle);
  if (other.programs === own) return other;
  throw new WhetstoneError("capability.missing", {
    where: "local engine, sampling",
    got: "a mixture of models with different architectures",
    expected: "a frozen copy of the model that samples",
    fix: "Mix a model with its own frozen copies only.",
  });
}

/** @param contents with weights as `laidOut` returns them. */
function stateOf(a: Architecture, { weights, first, second, steps, version }: ModelContents): ModelState {
  const moments = first && second ? { first, second } : {};
  return {
    weights,
    trained: trainedNames(a),
    ...moments,
    steps,
    version,
    gradients: new Map(),
  };
}

const received = (a: Architecture, contents: ModelContents): ModelContents => ({
  ...contents,
  weights: laidOut(a.config, contents.weights),
});

const copied = (w: Weights): Weights => new Map([...w].map(([name, x]) => [name, x.slice()]));

/** A message copies its arrays, so this shares them. */
function contentsOf(
  { weights, trained, first, second, steps, version }: ModelState,
  which: "all" | "trained" = "all",
): ModelContents {
  const sent = which === "all" ? weights : new Map([...weights].filter(([name]) => trained.has(name)));
  return { weights: sent, ...(first && second ? { first, second } : {}), steps, version };
}

function add(model: Held): Handle {
  const handle = nextHandle++;
  models.set(handle, model);
  return handle;
}

function remembered<V>(known: Map<string, V>, key: unknown, make: () => V): V {
  const text = JSON.stringify(key);
  const value = known.get(text) ?? make();
  known.set(text, value);
  return value;
}

/** All inputs of a scoring program. */
function feedsFor({ architecture: { config }, state }: Held, rows: PackedRows): Record<string, TypedArray> {
  const { tokens, end, context, back, targets } = rows;
  const table = remembered(rotaryByShape, config, () => rotaryTable(config));
  return {
    ...feedsOf(config, state.weights),
    ...table.rows(rows.position),
    tokens,
    end,
    context,
    back,
    targets,
    "at.ids": rows.atIds ?? new Int32Array(rows.A),
  };
}

/** What a forward pass kept; a single call consumes it. */
function leftBy(handle: Handle): Kept {
  const left = kept.get(handle);
  kept.delete(handle);
  if (left) return left;
  throw new WhetstoneError("engine.failed", {
    where: "local engine",
    got: "a backward call without its forward",
    expected: "each forward call followed by its backward call",
    fix: "Report this: it is a bug in the engine.",
  });
}

function textOf({ decode }: Words, ids: Int32Array): string {
  if (decode) return decode(ids);
  throw new WhetstoneError("engine.failed", {
    where: "local engine",
    got: "a request with stop strings before the token texts of its model",
    expected: "the token texts first",
    fix: "Report this: it is a bug in the engine.",
  });
}

const cotangentFeeds = (cotangents: Readonly<Record<string, Float32Array>>): Record<string, Float32Array> =>
  Object.fromEntries(Object.entries(cotangents).map(([name, array]) => [`d.${name}`, array]));

const isNotZero = (xs: Float32Array): boolean => xs.some((x) => x !== 0);

const calls: {
  [K in keyof Calls]: (...args: Parameters<Calls[K]>) => ReturnType<Calls[K]> | Promise<ReturnType<Calls[K]>>;
} = {
  create(architecture, marks, contents) {
    return add({
      architecture,
      marks,
      words: {},
      programs: remembered(programsByShape, architecture, () => programs(architecture, options)),
      state: stateOf(architecture, received(architecture, contents)),
    });
  },
  async words(handle, tokenizer) {
    const { chatCodec } = await import("./codec.ts");
    modelOf(handle).words.decode = chatCodec(tokenizer).decode;
  },
  sample(handle, requests, watch) {
    const { architecture, marks, words, programs, state } = modelOf(handle);
    const { config } = architecture;
    const codec = { ...marks, decode: (ids: Int32Array) => textOf(words, ids) };
    const open = (): Sampler => {
      const weights = feedsOf(config, state.weights);
      const weightsOf = (of: Handle) => feedsOf(config, mixable(of, programs).state.weights);
      const prefixes = prefixesOf(config, state);
      const version = String(state.version);
      return sampler({ config, codec, programs, weights, weightsOf, prefixes, version });
    };
    const joined = sampling.get(handle) ?? open();
    sampling.set(handle, joined);
    const tell = (request: number, token: number): void => reply({ watch: watch!, request, token });
    return joined.sample(requests, watch === undefined ? undefined : { id: watch, tell });
  },
  cancel(handle, watch) {
    sampling.get(handle)?.cancel(watch);
  },
  async forward(handle, rows, wanted, keep) {
    const model = modelOf(handle);
    const { B, T, A } = rows;
    const shape = { B, T, A, wanted };
    const feeds = feedsFor(model, rows);
    if (!keep) return (await model.programs.score(shape)).run(feeds);
    const left = kept.get(handle);
    if (left) spare.push(left.memory); // an objective failed between forward and backward
    const { forward, outputs, kept: ports } = await model.programs.train(shape);
    const { memory, arrays } = laidPorts(ports);
    const into = Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`kept.${name}`, array]));
    const out = Object.fromEntries(outputs.map((p) => [p.name, emptyFor(p)]));
    await forward.runInto(feeds, { ...into, ...out });
    kept.set(handle, { shape, feeds: { ...feeds, ...arrays }, memory });
    return out;
  },
  async backward(handle, into, cotangents) {
    const { architecture, programs, state } = modelOf(handle);
    const { shape, feeds, memory } = leftBy(handle);
    const buffer = state.gradients.get(into) ?? gradientBuffer(architecture, state);
    state.gradients.set(into, buffer);
    // a group whose attempts all had the same reward may fill a micro-batch, which then adds nothing but zeros
    if (Object.values(cotangents).some(isNotZero)) {
      const session = await (await programs.train(shape)).backward(Object.keys(cotangents));
      const sums = Object.entries(feedsOf(architecture.config, buffer));
      await session.runInto(
        {
          ...feeds,
          ...cotangentFeeds(cotangents),
          ...Object.fromEntries(sums.map(([name, array]) => [`into.${name}`, array])),
        },
        Object.fromEntries(sums.map(([name, array]) => [`d.${name}`, array])),
      );
    }
    spare.push(memory);
  },
  async inputGradient(handle, cotangents) {
    const { programs } = modelOf(handle);
    const { shape, feeds, memory } = leftBy(handle);
    const session = await (await programs.train(shape)).inputGradient(Object.keys(cotangents));
    const out = await session.run({ ...feeds, ...cotangentFeeds(cotangents) });
    spare.push(memory);
    return out["d.embedded"] as Float32Array;
  },
  step(handle, rule, pull) {
    const { state } = modelOf(handle);
    const toward = pull && { toward: modelOf(pull.toward).state.weights, strength: pull.strength };
    return { stats: optimiserStep(state, rule, toward), version: state.version };
  },
  copy(handle, optimiser) {
    const model = modelOf(handle);
    const { architecture, state } = model;
    const { first, second, steps, version } = state;
    const weights = copyOf(architecture, state);
    const contents =
      optimiser === "copy" && first && second
        ? { weights, first: copied(first), second: copied(second), steps, version }
        : { weights, steps: 0, version };
    return add({ ...model, state: stateOf(architecture, contents) });
  },
  blend(handle, toward, rate) {
    const { state } = modelOf(handle);
    blend(state, modelOf(toward).state.weights, rate);
    return ++state.version;
  },
  dot(handle, a, b) {
    const { gradients } = modelOf(handle).state;
    const [x, y] = [gradients.get(a), gradients.get(b)];
    return x && y ? dot(x, y) : 0;
  },
  combine(handle, sum) {
    const { architecture, state } = modelOf(handle);
    const out = gradientBuffer(architecture, state);
    for (const [name, scale] of Object.entries(sum)) {
      const part = state.gradients.get(name);
      if (part) addInto(out, part, scale);
    }
    state.gradients.set(mainGradient, out);
  },
  contents: (handle, which) => contentsOf(modelOf(handle).state, which),
  replace(handle, contents) {
    const model = modelOf(handle);
    models.set(handle, {
      ...model,
      state: stateOf(model.architecture, received(model.architecture, contents)),
    });
  },
  drop(handle) {
    models.delete(handle);
    kept.delete(handle);
  },
};

function reply(message: Reply): void {
  port.postMessage(message);
}

async function answer({ id, call, args }: Request): Promise<void> {
  try {
    // the host's typed proxy made the arguments; the protocol is the one place where that is taken on trust
    const run = calls[call] as (...args: readonly unknown[]) => unknown;
    reply({ id, value: await run(...args) });
  } catch (e) {
    reply({
      id,
      error: {
        message: messageOf(e),
        ...(isWhetstoneError(e) ? { code: e.code, parts: { ...e.parts, cause: undefined } } : {}),
        ...(e instanceof Error && e.stack ? { stack: e.stack } : {}),
      },
    });
  }
}

leave(gate); // native code is loaded
port.on("message", scheduler({ answer, sampling }));
