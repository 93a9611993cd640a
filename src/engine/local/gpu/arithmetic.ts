/** Arithmetic on whole arrays of weights, moments and gradients on a GPU. */
import type { Gpu, GpuArray } from "../../../tensor/wgsl/device.ts";
import { plus, tree } from "../../../tensor/wgsl/kernels.ts";
import { idOf } from "../../../tensor/wgsl/program.ts";

/** A run of elements of an array. */
export interface Range {
  readonly from: number;
  readonly count: number;
}

export interface AdamwRange extends Range {
  /** Learning rate / (1 − β₁ᵗ). */
  readonly rate: number;
  /** 1 / √(1 − β₂ᵗ). */
  readonly scale: number;
  /** 1 − learning rate · weight decay. */
  readonly keep: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Factor on the gradient: clipping, and undoing the scale of the loss. */
  readonly by: number;
}

/** Bytes between the parameters of two kernels: bindings begin at multiples of it. */
const apart = 256;
/** Most bind groups that are kept. */
const mostKnown = 8192;
/** Workgroups that add up one array; the sums of each come back. */
const sums = 256;
const threads = 256;

const head = (parameters: string): string => `
struct Given { start: u32, count: u32, ${parameters} };
@group(0) @binding(0) var<storage, read> given: Given;`;

const eachElement = (body: string): string => `
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) li: u32) {
  for (var n = wg.x * ${threads}u + li; n < given.count; n += groups.x * ${threads}u) {
    let i = given.start + n;
    ${body}
  }
}`;

const adamwCode = `${head("rate: f32, scale: f32, keep: f32, beta1: f32, beta2: f32, epsilon: f32, by: f32")}
@group(0) @binding(1) var<storage, read> gradient: array<f32>;
@group(0) @binding(2) var<storage, read_write> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> m: array<f32>;
@group(0) @binding(4) var<storage, read_write> v: array<f32>;
${eachElement(`let g = gradient[i] * given.by;
let first = given.beta1 * m[i] + (1.0 - given.beta1) * g;
let second = given.beta2 * v[i] + (1.0 - given.beta2) * g * g;
m[i] = first; v[i] = second;
weight[i] = given.keep * weight[i] - given.rate * first / (sqrt(second) * given.scale + given.epsilon);`)}`;

const combineCode = `${head("own: f32, other: f32")}
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
${eachElement("y[i] = given.own * y[i] + given.other * x[i];")}`;

const dotCode = (same: boolean): string => `${head("spare: u32")}
@group(0) @binding(1) var<storage, read> x: array<f32>;
${same ? "" : "@group(0) @binding(2) var<storage, read> y: array<f32>;"}
@group(0) @binding(${same ? 2 : 3}) var<storage, read_write> partial: array<f32>;
${tree(threads, "joinsum", plus)}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) li: u32) {
  var sum = 0.0;
  for (var n = wg.x * ${threads}u + li; n < given.count; n += ${sums * threads}u) { sum += x[n] * ${same ? "x" : "y"}[n]; }
  sum = joinsum(li, sum);
  if (li == 0u) { partial[wg.x] = sum; }
}`;

export interface Arithmetic {
  /** Steps of AdamW; the last three arrays change. */
  adamw(
    of: readonly {
      readonly range: AdamwRange;
      readonly arrays: readonly [gradient: GpuArray, weight: GpuArray, m: GpuArray, v: GpuArray];
    }[],
  ): Promise<void>;
  /** y ← own · y + other · x, each over a range. */
  combine(
    of: readonly {
      readonly range: Range;
      readonly own: number;
      readonly other: number;
      readonly x: GpuArray;
      readonly y: GpuArray;
    }[],
  ): Promise<void>;
  /** Σ ⟨x, y⟩ over pairs of arrays, added up in float64 from 256 sums of each. */
  dot(of: readonly (readonly [GpuArray, GpuArray])[]): Promise<number>;
}

export function arithmetic(gpu: Gpu): Arithmetic {
  const { device } = gpu;
  let given: GPUBuffer | undefined;
  let partial: GPUBuffer | undefined;
  const room = (old: GPUBuffer | undefined, bytes: number): GPUBuffer => {
    if (old && old.size >= bytes) return old;
    if (old) gpu.free(old);
    return gpu.make(bytes);
  };

  /** Bind groups that were made before; most steps are over the same arrays. */
  const known = new Map<string, GPUBindGroup>();
  function groupOf(pipeline: GPUComputePipeline, entries: readonly GPUBindGroupEntry[]): GPUBindGroup {
    const names = entries.map(({ resource }) => {
      const { buffer, offset = 0 } = resource as GPUBufferBinding;
      return `${idOf(buffer)}+${offset}`;
    });
    const key = `${idOf(pipeline)}:${names.join()}`;
    const old = known.get(key);
    if (old) return old;
    if (known.size >= mostKnown) known.clear();
    const made = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [...entries] });
    known.set(key, made);
    return made;
  }

  interface Job {
    readonly range: Range;
    readonly numbers: readonly number[];
    readonly buffers: readonly GPUBuffer[];
    /** Where its sums go, if it has any. */
    readonly sums?: number;
    readonly code: string;
    readonly groups: number;
  }

  async function run(jobs: readonly Job[]): Promise<void> {
    gpu.check();
    if (jobs.length === 0) return;
    given = room(given, apart * jobs.length);
    const words = new ArrayBuffer(apart * jobs.length);
    jobs.forEach(({ range, numbers }, k) => {
      new Uint32Array(words, apart * k, 2).set([range.from, range.count]);
      new Float32Array(words, apart * k + 8, numbers.length).set(numbers);
    });
    device.queue.writeBuffer(given, 0, words);
    const pipelines = new Map<string, GPUComputePipeline>();
    for (const { code } of jobs) if (!pipelines.has(code)) pipelines.set(code, await gpu.pipeline(code));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    jobs.forEach(({ buffers, sums: at, code, groups, numbers }, k) => {
      const pipeline = pipelines.get(code)!;
      const parameters = { buffer: given!, offset: apart * k, size: 8 + 4 * Math.max(1, numbers.length) };
      const entries: GPUBindGroupEntry[] = [
        { binding: 0, resource: parameters },
        ...buffers.map((buffer, b) => ({ binding: b + 1, resource: { buffer } })),
      ];
      if (at !== undefined) {
        const resource = { buffer: partial!, offset: 4 * sums * at, size: 4 * sums };
        entries.push({ binding: entries.length, resource });
      }
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, groupOf(pipeline, entries));
      pass.dispatchWorkgroups(groups);
    });
    pass.end();
    device.queue.submit([encoder.finish()]);
  }

  const groupsFor = ({ count }: Range): number => Math.min(32768, Math.ceil(count / threads));
  return {
    adamw: (of) =>
      run(
        of.map(({ range, arrays }) => ({
          range,
          numbers: [range.rate, range.scale, range.keep, range.beta1, range.beta2, range.epsilon, range.by],
          buffers: arrays.map((x) => x.buffer),
          code: adamwCode,
          groups: groupsFor(range),
        })),
      ),
    combine: (of) =>
      run(
        of.map(({ range, own, other, x, y }) => ({
          range,
          numbers: [own, other],
          buffers: [x.buffer, y.buffer],
          code: combineCode,
          groups: groupsFor(range),
        })),
      ),
    async dot(of) {
      partial = room(partial, 4 * sums * of.length);
      await run(
        of.map(([x, y], k) => ({
          range: { from: 0, count: x.length },
          numbers: [0],
          buffers: x === y ? [x.buffer] : [x.buffer, y.buffer],
          sums: k,
          code: dotCode(x === y),
          groups: sums,
        })),
      );
      const parts = new Float32Array(await gpu.read(partial, 4 * sums * of.length));
      return parts.reduce((total, x) => total + x, 0);
    },
  };
}
