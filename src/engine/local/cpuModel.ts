/** Models whose weights are arrays of this process, computed with by ONNX Runtime. */
import type { Port } from "../../tensor/compile.ts";
import type { SessionOptions, TypedArray } from "../../tensor/execute.ts";
import type { ComputeDevice, DeviceModel } from "./deviceModel.ts";
import { type Programs, programs } from "./onnxPrograms.ts";
import { type Architecture, feedsOf, laidOut, type Weights } from "./parameters.ts";
import { isNotZero, noForward, rowFeeds } from "./passFeeds.ts";
import { type PrefixCache, prefixCache } from "./prefixCache.ts";
import type { ScoringShape } from "./programs.ts";
import type { ModelContents } from "./protocol.ts";
import { readings } from "./readings.ts";
import { type RotaryTable, rotaryTable } from "./rotaryTables.ts";
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

/** What a model's last forward pass kept for its backward pass. */
interface Kept {
  readonly shape: ScoringShape;
  readonly feeds: Record<string, TypedArray>;
  readonly memory: ArrayBuffer;
}

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

const length = (p: Port): number => p.shape.reduce((a, b) => a * b, 1);
const emptyFor = (p: Port): TypedArray => new arrays[p.dtype](length(p));

/** Reused buffers for what forward passes keep for backward passes. */
function spareMemory() {
  const spare: ArrayBuffer[] = [];
  const take = (bytes: number): ArrayBuffer => {
    const at = spare.findIndex((memory) => memory.byteLength >= bytes);
    if (at >= 0) return spare.splice(at, 1)[0]!;
    spare.length = 0; // too small for the current shapes
    return new ArrayBuffer(bytes);
  };
  return {
    give: (memory: ArrayBuffer): void => void spare.push(memory),
    /** One array for each output, side by side in memory. */
    laidPorts(ports: readonly Port[]): { memory: ArrayBuffer; arrays: Record<string, TypedArray> } {
      const room = (p: Port): number => Math.ceil((length(p) * arrays[p.dtype].BYTES_PER_ELEMENT) / 64) * 64;
      const memory = take(ports.reduce((n, p) => n + room(p), 0));
      let at = 0;
      const out: Record<string, TypedArray> = {};
      for (const p of ports) {
        out[p.name] = new arrays[p.dtype](memory, at, length(p));
        at += room(p);
      }
      return { memory, arrays: out };
    },
  };
}

type SpareMemory = ReturnType<typeof spareMemory>;

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

const cotangentFeeds = (cotangents: Readonly<Record<string, Float32Array>>): Record<string, Float32Array> =>
  Object.fromEntries(Object.entries(cotangents).map(([name, array]) => [`d.${name}`, array]));

function remembered<V>(known: Map<string, V>, key: unknown, make: () => V): V {
  const text = JSON.stringify(key);
  const value = known.get(text) ?? make();
  known.set(text, value);
  return value;
}

/** What all models of one thread share. */
interface Shared {
  readonly programs: Programs;
  readonly spare: SpareMemory;
  readonly table: RotaryTable;
  /** Bytes for what is known of earlier prompts. */
  readonly prefixBytes: number;
}

/** The states of models made here, for those that read another's weights. */
const states = new WeakMap<DeviceModel, ModelState>();
const stateOfModel = (model: DeviceModel): ModelState => states.get(model)!;

/** Weights on the CPU. @param prefixBytes for keys and values of earlier prompts, for each model. */
export function cpuDevice(options: SessionOptions, prefixBytes: number): ComputeDevice {
  /** Models of one architecture share their programs. */
  const programsByShape = new Map<string, Programs>();
  const rotaryByShape = new Map<string, RotaryTable>();
  const spare = spareMemory();
  return {
    async create(a, contents) {
      const shared: Shared = {
        programs: remembered(programsByShape, a, () => programs(a, options)),
        spare,
        table: remembered(rotaryByShape, a.config, () => rotaryTable(a.config)),
        prefixBytes,
      };
      return cpuModel(a, stateOf(a, received(a, contents)), shared);
    },
  };
}

function cpuModel(a: Architecture, first: ModelState, shared: Shared): DeviceModel {
  const { config } = a;
  const { programs, spare, table, prefixBytes } = shared;
  let state = first;
  let kept: Kept | undefined;
  /** What is known of earlier prompts, for one version of the weights. */
  let known: { readonly of: ModelState; readonly version: number; readonly cache: PrefixCache } | undefined;

  function prefixes(): PrefixCache | undefined {
    if (prefixBytes === 0) return undefined;
    if (known?.of !== state || known.version !== state.version)
      known = { of: state, version: state.version, cache: prefixCache(config, prefixBytes) };
    return known.cache;
  }

  /** What a forward pass kept; a single call consumes it. */
  function left(): Kept {
    const was = kept;
    kept = undefined;
    if (was) return was;
    throw noForward();
  }

  const model: DeviceModel = {
    kind: programs,
    get version() {
      return state.version;
    },
    async forward(rows, wanted, keep) {
      const { B, T, A } = rows;
      const shape = { B, T, A, wanted };
      const feeds = { ...feedsOf(config, state.weights), ...table.rows(rows.position), ...rowFeeds(rows) };
      if (!keep) return (await programs.score(shape)).run(feeds);
      if (kept) spare.give(kept.memory); // an objective failed between forward and backward
      const { forward, outputs, kept: ports } = await programs.train(shape);
      const { memory, arrays } = spare.laidPorts(ports);
      const into = Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`kept.${name}`, array]));
      const out = Object.fromEntries(outputs.map((p) => [p.name, emptyFor(p)]));
      await forward.runInto(feeds, { ...into, ...out });
      kept = { shape, feeds: { ...feeds, ...arrays }, memory };
      return out;
    },
    async backward(into, cotangents) {
      const { shape, feeds, memory } = left();
      const buffer = state.gradients.get(into) ?? gradientBuffer(a, state);
      state.gradients.set(into, buffer);
      // a group whose attempts all had the same reward may fill a micro-batch, which then adds nothing but zeros
      if (isNotZero(cotangents)) {
        const session = await (await programs.train(shape)).backward(Object.keys(cotangents));
        const sums = Object.entries(feedsOf(config, buffer));
        await session.runInto(
          {
            ...feeds,
            ...cotangentFeeds(cotangents),
            ...Object.fromEntries(sums.map(([name, array]) => [`into.${name}`, array])),
          },
          Object.fromEntries(sums.map(([name, array]) => [`d.${name}`, array])),
        );
      }
      spare.give(memory);
    },
    async inputGradient(cotangents) {
      const { shape, feeds, memory } = left();
      const session = await (await programs.train(shape)).inputGradient(Object.keys(cotangents));
      const out = await session.run({ ...feeds, ...cotangentFeeds(cotangents) });
      spare.give(memory);
      return out["d.embedded"] as Float32Array;
    },
    async step(rule, pull) {
      const toward = pull && { toward: stateOfModel(pull.toward).weights, strength: pull.strength };
      return optimiserStep(state, rule, toward);
    },
    async blend(toward, rate) {
      blend(state, stateOfModel(toward).weights, rate);
      state.version++;
    },
    async dot(x, y) {
      const [one, other] = [state.gradients.get(x), state.gradients.get(y)];
      return one && other ? dot(one, other) : 0;
    },
    async combine(sum) {
      const out = gradientBuffer(a, state);
      for (const [name, scale] of Object.entries(sum)) {
        const part = state.gradients.get(name);
        if (part) addInto(out, part, scale);
      }
      state.gradients.set(mainGradient, out);
    },
    async copy(optimiser) {
      const { first, second, steps, version } = state;
      const weights = copyOf(a, state);
      const contents =
        optimiser === "copy" && first && second
          ? { weights, first: copied(first), second: copied(second), steps, version }
          : { weights, steps: 0, version };
      return cpuModel(a, stateOf(a, contents), shared);
    },
    contents: async (which) => contentsOf(state, which),
    async replace(contents) {
      state = stateOf(a, received(a, contents));
      states.set(model, state);
    },
    readings: ({ codec, other }) =>
      readings({
        config,
        programs,
        weights: feedsOf(config, state.weights),
        weightsOf: (of) => feedsOf(config, stateOfModel(other(of)).weights),
        codec,
        prefixes: prefixes(),
      }),
    drop() {
      kept = undefined;
    },
  };
  states.set(model, state);
  return model;
}
