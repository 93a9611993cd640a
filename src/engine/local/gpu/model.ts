/** Models whose weights, moments, gradients and caches stay on a GPU, computed with by kernels in WGSL. */
import { type AdapterFacts, openGpu } from "../../../tensor/wgsl/device.ts";
import { arena, fromGpu } from "../../../tensor/wgsl/program.ts";
import type { ComputeDevice, DeviceModel } from "../deviceModel.ts";
import type { Weights } from "../parameters.ts";
import { arithmetic } from "./arithmetic.ts";
import { type Device, type GpuSettings, type Kind, kindOf, type Running, type State } from "./kind.ts";
import { gpuPool, heldArrays } from "./memory.ts";
import { requireDeviceMemory } from "./memoryPlan.ts";
import { passesOf } from "./passes.ts";
import { gpuReadings } from "./readings.ts";
import { clearGradients, stepsOf, zeroMoments } from "./steps.ts";
import { type Arrays, arraysOf, joinedParts, named, type Unit } from "./units.ts";

/** What benches ask of a device. */
export interface GpuDevice extends ComputeDevice {
  readonly adapter: AdapterFacts;
  close(): void;
  /** Bytes of all memory that it has allocated. */
  bytes(): number;
  /** Milliseconds of each kind of kernel, by program, of the programs that ran. */
  profile(): Promise<Record<string, ReadonlyMap<string, { readonly ms: number; readonly count: number }>>>;
}

/** @throws TensorError if there is no GPU. */
export async function gpuDevice(settings: GpuSettings): Promise<GpuDevice> {
  const { checked = false, software = checked } = settings;
  const gpu = await openGpu({ checked, software });
  const device: Device = {
    gpu,
    held: heldArrays(gpu),
    pools: { kept: gpuPool(gpu), gradients: gpuPool(gpu), caches: gpuPool(gpu) },
    arithmetic: arithmetic(gpu),
    arena: arena(gpu),
    settings,
    programs: [],
  };
  const kinds = new Map<string, Kind>();
  return {
    adapter: gpu.adapter,
    close: () => gpu.close(),
    bytes: () => gpu.bytes(),
    async profile() {
      const out: Record<string, ReadonlyMap<string, { ms: number; count: number }>> = {};
      for (const [i, program] of device.programs.entries()) {
        out[`program ${i}, ${program.steps} kernels`] = await program.profile();
      }
      return out;
    },
    async create(a, contents) {
      const key = JSON.stringify(a);
      const kind = kinds.get(key) ?? kindOf(a, device);
      kinds.set(key, kind);
      const weights = arraysOf(kind.units, contents.weights, device.held);
      const { first, second, steps, version } = contents;
      const moments =
        first && second
          ? {
              first: arraysOf(kind.trained, first, device.held),
              second: arraysOf(kind.trained, second, device.held),
            }
          : undefined;
      return gpuModel(kind, device, { weights, moments, steps, version });
    },
  };
}

/** The states of models made here, for those that read another's weights. */
const states = new WeakMap<DeviceModel, State>();
const stateOf = (model: DeviceModel): State => states.get(model)!;

/** With 16-bit factors, the loss is scaled so that small gradients do not vanish. */
const firstScale = 4096;

function gpuModel(kind: Kind, device: Device, state: State): DeviceModel {
  const lossScale = device.settings.precision === "f16" ? firstScale : 1;
  const m: Running = { kind, device, state, gradients: new Map(), lossScale };
  const { forget, ...passes } = passesOf(m);
  const model: DeviceModel = {
    kind: kind.scoring,
    get version() {
      return state.version;
    },
    ...passes,
    ...stepsOf(m, stateOf),
    ...contentsOf(m),
    copy: async (optimiser) => gpuModel(kind, device, copied(m, optimiser === "copy")),
    readings: ({ codec, other }) =>
      gpuReadings({
        config: kind.a.config,
        gpu: device.gpu,
        programs: kind.sampling,
        weights: named("", state.weights),
        weightsOf: (of) => named("", stateOf(other(of)).weights),
        codec,
        pool: device.pools.caches,
      }),
    async memory(use) {
      const { first, second } = state.moments ?? { first: new Map(), second: new Map() };
      const inUse = [state.weights, first, second].flatMap((arrays) => [...arrays.values()]);
      const bytes = inUse.reduce((sum, { length }) => sum + 4 * length, 0);
      const plan = await requireDeviceMemory(kind, use, bytes, device.gpu, device.settings);
      device.pools.kept.bound(plan.kept);
      device.pools.caches.bound(plan.caches);
      return plan;
    },
    drop() {
      forget();
      clearGradients(m);
      dropMoments(m);
      for (const x of state.weights.values()) device.held.drop(x);
      state.weights = new Map();
    },
  };
  states.set(model, state);
  return model;
}

/** A copy of the trained weights; the others stay shared. */
function copied({ kind, device: { held }, state }: Running, withMoments: boolean): State {
  const own = new Set(kind.trained.map((u) => u.name));
  const copy = (arrays: Arrays): Arrays =>
    new Map([...arrays].map(([name, x]) => [name, own.has(name) ? held.duplicate(x) : held.hold(x)]));
  const { moments, steps, version } = state;
  const weights = copy(state.weights);
  if (!withMoments || !moments) return { weights, moments: undefined, steps: 0, version };
  return { weights, moments: { first: copy(moments.first), second: copy(moments.second) }, steps, version };
}

function dropMoments({ device: { held }, state }: Running): void {
  const { moments } = state;
  for (const x of [...(moments?.first.values() ?? []), ...(moments?.second.values() ?? [])]) held.drop(x);
  state.moments = undefined;
}

/** What is read and written whole: for checkpoints. */
function contentsOf(m: Running): Pick<DeviceModel, "contents" | "replace"> {
  const { kind, device, state } = m;
  const { gpu, held } = device;
  /** The parts of each array, by parameter. */
  async function read(of: readonly Unit[], arrays: Arrays): Promise<Weights> {
    const out: Weights = new Map();
    for (const u of of) {
      const all = (await fromGpu(gpu, arrays.get(u.name)!)) as Float32Array;
      for (const p of u.parts) out.set(p.name, all.subarray(p.from, p.from + p.count));
    }
    return out;
  }
  /** In memory of their own: copies of the model may share the old arrays. */
  const put = (of: readonly Unit[], arrays: Arrays, from: Weights): Arrays => {
    const next = new Map(arrays);
    for (const u of of) {
      if (!u.parts.every((p) => from.has(p.name))) continue;
      held.drop(arrays.get(u.name)!);
      next.set(u.name, held.load(joinedParts(u, from)));
    }
    return next;
  };
  return {
    async contents(which = "all") {
      const { weights, moments, steps, version } = state;
      return {
        weights: await read(which === "all" ? kind.units : kind.trained, weights),
        ...(moments && {
          first: await read(kind.trained, moments.first),
          second: await read(kind.trained, moments.second),
        }),
        steps,
        version,
      };
    },
    async replace({ weights, first, second, steps, version }) {
      state.weights = put(kind.units, state.weights, weights);
      if (first && second) {
        const moments = state.moments ?? { first: zeroMoments(m), second: zeroMoments(m) };
        state.moments = {
          first: put(kind.trained, moments.first, first),
          second: put(kind.trained, moments.second, second),
        };
      } else dropMoments(m);
      state.steps = steps;
      state.version = version;
      clearGradients(m);
    },
  };
}
