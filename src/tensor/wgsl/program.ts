/** A plan on a device: pipelines, buffers and bind groups, made once and run many times. */
import type { Outputs, Port } from "../compile.ts";
import { TensorError } from "../error.ts";
import type { TypedArray } from "../execute.ts";
import type { Tensor } from "../graph.ts";
import { type DType, show, sizeOf } from "../shape.ts";
import type { Gpu, GpuArray } from "./device.ts";
import { type Place, type Plan, type PlanOptions, plan, type Step } from "./plan.ts";
import { roomFor } from "./products.ts";

/** Buffers of intermediate values, which all programs of a device share: they run one after another. */
export interface Arena {
  /** Buffers of at least these sizes, all different. */
  take(bytes: readonly number[]): readonly GPUBuffer[];
  /** Changes when a buffer is replaced. */
  readonly version: number;
}

export function arena(gpu: Gpu): Arena {
  const buffers: GPUBuffer[] = []; // largest first
  let version = 0;
  return {
    take(bytes) {
      const order = bytes.map((size, i) => ({ size, i })).sort((a, b) => b.size - a.size);
      const out = new Array<GPUBuffer>(bytes.length);
      order.forEach(({ size, i }, rank) => {
        const old = buffers[rank];
        if (!old || old.size < size) {
          if (old) gpu.free(old);
          buffers[rank] = gpu.make(size);
          version++;
        }
        out[i] = buffers[rank]!;
      });
      return out;
    },
    get version() {
      return version;
    },
  };
}

export interface GpuProgram {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** Number of dispatches. */
  readonly steps: number;
  /**
   * Submits the kernels.
   * @param feeds by name: memory of the device, or an array that is copied there. @param into memory for outputs; the others
   *   are written to memory of the program, which the next run overwrites.
   * @returns where the outputs are. Outputs that update an input are there.
   */
  run(
    feeds: Readonly<Record<string, GpuArray | TypedArray | undefined>>,
    into?: Readonly<Record<string, GpuArray | undefined>>,
  ): Record<string, GpuArray>;
  /** Runs as the last time, each kernel by itself: milliseconds and number of each kind. Needs timestamps of the adapter. */
  profile(): Promise<ReadonlyMap<string, { readonly ms: number; readonly count: number }>>;
  release(): void;
}

export interface ProgramOptions {
  readonly arena: Arena;
  readonly precision?: "f32" | "f16";
  readonly packed?: boolean;
  /** Whether products have few rows, as when replies are sampled. */
  readonly fewRows?: boolean;
  /** As for {@link plan}. */
  readonly updates?: Readonly<Record<string, string>>;
}

const isGpuArray = (x: GpuArray | TypedArray): x is GpuArray => "buffer" in x && "dtype" in x;

/** The elements as they lie on the device: 4 bytes each. */
const asWords = (data: TypedArray): Float32Array | Int32Array | Uint32Array =>
  data instanceof Uint8Array ? Uint32Array.from(data) : data;

const arrayTypes = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

/** Writes an array into memory of the device. */
export function upload(gpu: Gpu, buffer: GPUBuffer, data: TypedArray): void {
  const words = asWords(data);
  const piece = 1 << 22; // long writes would need as much staging memory again
  for (let i = 0; i < words.length; i += piece) {
    gpu.device.queue.writeBuffer(buffer, 4 * i, words.subarray(i, i + piece) as Float32Array<ArrayBuffer>);
  }
}

/** New memory of the device with these elements. */
export function toGpu(gpu: Gpu, data: TypedArray): GpuArray {
  const dtype: DType =
    data instanceof Float32Array ? "float32" : data instanceof Int32Array ? "int32" : "bool";
  const buffer = gpu.make(4 * data.length);
  upload(gpu, buffer, data);
  return { buffer, dtype, length: data.length };
}

/** The elements, once all work submitted before is done. */
export async function fromGpu(gpu: Gpu, { buffer, dtype, length }: GpuArray): Promise<TypedArray> {
  const bytes = await gpu.read(buffer, 4 * length);
  if (dtype === "float32") return new Float32Array(bytes);
  return dtype === "int32" ? new Int32Array(bytes) : Uint8Array.from(new Uint32Array(bytes));
}

const ids = new WeakMap<object, number>();
let nextId = 1;
/** A number for a buffer or pipeline, of which keys are made. */
export function idOf(of: object): number {
  const known = ids.get(of);
  if (known !== undefined) return known;
  ids.set(of, nextId);
  return nextId++;
}

/** Most sets of bind groups that a program keeps. */
const mostBound = 8;

/** Kernels that the device begins with while the next ones are encoded. */
const submittedAtOnce = 160;

/** Kernels of one set of timestamps. */
const timedAtOnce = 1024;

async function profiled(
  gpu: Gpu,
  steps: readonly Step[],
  pipelines: readonly GPUComputePipeline[],
  groups: readonly GPUBindGroup[],
) {
  const { device } = gpu;
  const out = new Map<string, { ms: number; count: number }>();
  for (let from = 0; from < steps.length; from += timedAtOnce) {
    const part = steps.slice(from, from + timedAtOnce);
    const querySet = device.createQuerySet({ type: "timestamp", count: 2 * part.length });
    const bytes = 16 * part.length;
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    const resolved = device.createBuffer({ size: bytes, usage });
    const encoder = device.createCommandEncoder();
    part.forEach((step, k) => {
      const timestampWrites = { querySet, beginningOfPassWriteIndex: 2 * k, endOfPassWriteIndex: 2 * k + 1 };
      const pass = encoder.beginComputePass({ timestampWrites });
      pass.setPipeline(pipelines[from + k]!);
      pass.setBindGroup(0, groups[from + k]!);
      pass.dispatchWorkgroups(...step.groups);
      pass.end();
    });
    encoder.resolveQuerySet(querySet, 0, 2 * part.length, resolved, 0);
    device.queue.submit([encoder.finish()]);
    const times = new BigUint64Array(await gpu.read(resolved, bytes));
    part.forEach(({ label }, k) => {
      const old = out.get(label) ?? { ms: 0, count: 0 };
      out.set(label, { ms: old.ms + Number(times[2 * k + 1]! - times[2 * k]!) / 1e6, count: old.count + 1 });
    });
    querySet.destroy();
    resolved.destroy();
  }
  return out;
}

/** What plans for a device go by. */
export const planOptionsOf = (
  gpu: Pick<Gpu, "adapter" | "bindings" | "sharedBytes" | "cores">,
  { precision = "f32", packed = true, fewRows = false, updates }: Omit<ProgramOptions, "arena">,
): PlanOptions => ({
  bindings: gpu.bindings,
  sharedBytes: gpu.sharedBytes,
  tiles: gpu.adapter.software ? "none" : "large",
  precision: gpu.cores ? precision : "f32",
  packed,
  fewRows,
  ...(updates && { updates }),
});

/** Compiles a graph for a device. */
export async function gpuProgram(
  gpu: Gpu,
  inputs: readonly Tensor[],
  outputs: Outputs,
  { arena, ...options }: ProgramOptions,
): Promise<GpuProgram> {
  const made: Plan = plan(inputs, outputs, planOptionsOf(gpu, options));
  const pipelines = await Promise.all(made.steps.map((s) => gpu.pipeline(s.code)));
  gpu.check();
  const constants = made.constants.map(({ dtype, data }) => toGpu(gpu, arrayTypes[dtype].from(data)));
  const own = new Map<string, GpuArray>();
  const memory = (p: Port): GpuArray => {
    const known = own.get(p.name) ?? {
      buffer: gpu.make(roomFor(p.shape)),
      dtype: p.dtype,
      length: sizeOf(p.shape),
    };
    own.set(p.name, known);
    return known;
  };
  const requireFit = (what: string, p: Port, x: { readonly length: number } | undefined): void => {
    if (x && x.length === sizeOf(p.shape)) return;
    throw new TensorError("run", {
      got: `the ${what} "${p.name}" with ${x ? `${x.length} elements` : "nothing"}`,
      expected: `${sizeOf(p.shape)} elements for ${p.dtype} ${show(p.shape)}`,
      fix: "Give it with the size that the program was made for.",
    });
  };
  const bound = new Map<string, readonly GPUBindGroup[]>();
  let last: readonly GPUBindGroup[] | undefined;
  function groupsOf(ports: ReadonlyMap<string, GpuArray>): readonly GPUBindGroup[] {
    const temporaries = arena.take(made.temporaries);
    const key = `${arena.version}:${[...ports.values()].map((x) => idOf(x.buffer)).join()}`;
    const known = bound.get(key);
    if (known) return known;
    const buffer = (place: Place): GPUBuffer => {
      if (place.kind === "temporary") return temporaries[place.slot]!;
      if (place.kind === "constant") return constants[place.index]!.buffer;
      return ports.get(`${place.kind} ${place.name}`)!.buffer;
    };
    const groups = made.steps.map((step, i) =>
      gpu.device.createBindGroup({
        layout: pipelines[i]!.getBindGroupLayout(0),
        entries: step.bindings.map((place, binding) => ({ binding, resource: { buffer: buffer(place) } })),
      }),
    );
    if (bound.size >= mostBound) bound.delete(bound.keys().next().value!);
    bound.set(key, groups);
    return groups;
  }
  return {
    inputs: made.inputs,
    outputs: made.outputs,
    steps: made.steps.length,
    profile: () => profiled(gpu, made.steps, pipelines, last!),
    run(feeds, into = {}) {
      gpu.check();
      const ports = new Map<string, GpuArray>();
      for (const p of made.inputs) {
        const given = feeds[p.name];
        requireFit("feed", p, given);
        if (isGpuArray(given!)) ports.set(`input ${p.name}`, given);
        else {
          const room = memory(p);
          upload(gpu, room.buffer, given!);
          ports.set(`input ${p.name}`, room);
        }
      }
      const results: Record<string, GpuArray> = {};
      for (const p of made.outputs) {
        const target = into[p.name] ?? memory(p);
        requireFit("output", p, target);
        results[p.name] = target;
        ports.set(`output ${p.name}`, target);
      }
      const groups = groupsOf(ports);
      last = groups;
      for (let first = 0; first < made.steps.length; first += submittedAtOnce) {
        const encoder = gpu.device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        let set: GPUComputePipeline | undefined;
        for (let i = first; i < Math.min(first + submittedAtOnce, made.steps.length); i++) {
          if (pipelines[i] !== set) pass.setPipeline((set = pipelines[i]!));
          pass.setBindGroup(0, groups[i]!);
          const [x, y, z] = made.steps[i]!.groups;
          pass.dispatchWorkgroups(x, y, z);
        }
        pass.end();
        gpu.device.queue.submit([encoder.finish()]);
      }
      return results;
    },
    release() {
      for (const { buffer } of [...own.values(), ...constants]) gpu.free(buffer);
      own.clear();
      bound.clear();
    },
  };
}
