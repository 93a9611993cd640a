/** A GPU by WebGPU: memory, pipelines and submission. In Node the package `webgpu` brings it; a browser has its own. */
/// <reference types="@webgpu/types" />
import { messageOf } from "../../core/errors.ts";
import { TensorError } from "../error.ts";
import type { DType } from "../shape.ts";

/** Memory of one tensor on the device. */
export interface GpuArray {
  readonly buffer: GPUBuffer;
  readonly dtype: DType;
  /** Number of elements; each takes 4 bytes. */
  readonly length: number;
}

export interface AdapterFacts {
  readonly name: string;
  readonly vendor: string;
  readonly software: boolean;
  readonly features: readonly string[];
  /** Bytes of the largest tensor. */
  readonly largest: number;
}

export interface Gpu {
  readonly device: GPUDevice;
  readonly adapter: AdapterFacts;
  readonly sharedBytes: number;
  /** Most tensors that one kernel reads and writes. */
  readonly bindings: number;
  /** Whether products can use tensor cores with 16-bit factors. */
  readonly cores: boolean;
  /** Bytes of all buffers that exist. */
  bytes(): number;
  make(bytes: number): GPUBuffer;
  free(buffer: GPUBuffer): void;
  /** Whether as many bytes can be had beside those in use, as far as the driver says. They are given back. */
  hasRoom(bytes: number): Promise<boolean>;
  /** The pipeline of a kernel; each is compiled once. */
  pipeline(code: string): Promise<GPUComputePipeline>;
  /** Reads memory back, after all work that was submitted before. */
  read(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer>;
  /** @throws TensorError if the device failed since the last call. */
  check(): void;
  close(): void;
}

export interface GpuOptions {
  /** Whether kernels check every index. Slower; for tests. */
  readonly checked?: boolean;
  /** Take a software adapter, if there is no other. */
  readonly software?: boolean;
}

/** Waits for the device. Its promises alone would not keep a process alive. */
async function awake<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 1 << 30);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Instances must outlive their devices. */
const instances = new Set<unknown>();

async function instance(checked: boolean): Promise<GPU> {
  if ("navigator" in globalThis && "gpu" in globalThis.navigator) return globalThis.navigator.gpu as GPU;
  if (globalThis.process?.versions?.node === undefined) throw new Error("a browser without WebGPU");
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  const on = ["allow_unsafe_apis", "vulkan_enable_f16_on_nvidia", "use_vulkan_memory_model"];
  if (!checked) on.push("disable_robustness", "skip_validation", "disable_workgroup_init");
  const made = create([`enable-dawn-features=${on.join(",")}`]);
  instances.add(made);
  return made;
}

/** Bytes of the pieces in which memory is asked for. */
const askedAtOnce = 2 ** 28;

/** What kernels for tensor cores need. */
const coreFeatures = ["shader-f16", "subgroups", "chromium-experimental-subgroup-matrix"];
/** Features that are used where an adapter has them. */
const wanted = [...coreFeatures, "timestamp-query"];
const raised = [
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupStorageSize",
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxStorageBuffersPerShaderStage",
] as const;

const isSoftware = (info: GPUAdapterInfo): boolean =>
  /swiftshader|llvmpipe|lavapipe|software|warp/i.test(
    `${info.vendor} ${info.architecture} ${info.device} ${info.description}`,
  );

/** Whether an adapter's tensor cores multiply f16 blocks of 16 × 16 into f32 in subgroups of 32. */
function hasCores(adapter: GPUAdapter, features: readonly string[]): boolean {
  if (!coreFeatures.every((f) => features.includes(f))) return false;
  const info = adapter.info as GPUAdapterInfo & {
    subgroupMatrixConfigs?: Iterable<{
      componentType: string;
      resultComponentType: string;
      M: number;
      N: number;
      K: number;
    }>;
  };
  const fits = [...(info.subgroupMatrixConfigs ?? [])].some(
    (c) =>
      c.componentType === "f16" && c.resultComponentType === "f32" && c.M === 16 && c.N === 16 && c.K === 16,
  );
  return fits && info.subgroupMaxSize === 32;
}

/** @throws TensorError if no adapter can be had. */
export async function openGpu({ checked = false, software = false }: GpuOptions = {}): Promise<Gpu> {
  const missing = (got: string): TensorError =>
    new TensorError("gpu", {
      got,
      expected: "a graphics adapter with Vulkan, Metal or Direct3D 12",
      fix: "Run whetstone doctor, which says what is missing and how to install it; or use --device cpu. In a page: another browser, or tabularEngine.",
    });
  const api = await instance(checked).catch((e) => {
    throw missing(messageOf(e).split("\n")[0]!);
  });
  const adapter = await awake(api.requestAdapter({ powerPreference: "high-performance" }));
  if (!adapter) throw missing("no adapter");
  if (isSoftware(adapter.info) && !software)
    throw missing(`only the software adapter ${adapter.info.description}`);
  const features = wanted.filter((f) => adapter.features.has(f as GPUFeatureName));
  const requiredLimits = Object.fromEntries(raised.map((k) => [k, adapter.limits[k]]));
  const device = await awake(
    adapter.requestDevice({
      requiredFeatures: features as GPUFeatureName[],
      requiredLimits,
    }),
  );
  return gpuOf(adapter, device, features);
}

function gpuOf(adapter: GPUAdapter, device: GPUDevice, features: readonly string[]): Gpu {
  const { limits } = device;
  const pipelines = new Map<string, Promise<GPUComputePipeline>>();
  let bytes = 0;
  let failure: string | undefined;
  let closing = false;
  device.onuncapturederror = (e) => {
    failure ??= e.error.message;
  };
  void device.lost.then(({ reason, message }) => {
    if (!closing) failure ??= `the device was lost (${reason}): ${message}`;
  });
  const check = (): void => {
    if (failure === undefined) return;
    throw new TensorError("gpu", {
      got: failure.split("\n").slice(0, 3).join(" "),
      expected: "a device that goes on working",
      fix: "Run again from the last checkpoint; with less memory in use if it says so.",
    });
  };
  const largest = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  const make = (size: number): GPUBuffer => {
    const whole = Math.max(16, Math.ceil(size / 16) * 16);
    if (whole > largest) {
      throw new TensorError("gpu", {
        got: `a tensor of ${(whole / 2 ** 20).toFixed(0)} MiB`,
        expected: `at most ${(largest / 2 ** 20).toFixed(0)} MiB on ${adapter.info.description}`,
        fix: "Use smaller batches (microBatchTokens) or a smaller model.",
      });
    }
    bytes += whole;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return device.createBuffer({ size: whole, usage });
  };
  let staging: GPUBuffer | undefined;
  let reading: Promise<unknown> = Promise.resolve();
  async function readNow(buffer: GPUBuffer, size: number): Promise<ArrayBuffer> {
    const whole = Math.ceil(size / 4) * 4;
    if (!staging || staging.size < whole) {
      staging?.destroy();
      staging = device.createBuffer({
        size: Math.max(65536, whole),
        usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
      });
    }
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, whole);
    device.queue.submit([encoder.finish()]);
    try {
      await awake(staging.mapAsync(GPUMapMode.READ, 0, whole));
    } catch (e) {
      failure ??= messageOf(e);
    }
    check();
    const out = staging.getMappedRange(0, whole).slice(0, size);
    staging.unmap();
    return out;
  }
  const read = (buffer: GPUBuffer, size: number): Promise<ArrayBuffer> => {
    const next = reading.then(() => readNow(buffer, size));
    reading = next.catch(() => undefined);
    return next;
  };
  return {
    device,
    adapter: {
      name: adapter.info.description || adapter.info.device || adapter.info.architecture,
      vendor: adapter.info.vendor,
      software: isSoftware(adapter.info),
      features,
      largest,
    },
    sharedBytes: limits.maxComputeWorkgroupStorageSize,
    bindings: limits.maxStorageBuffersPerShaderStage,
    cores: hasCores(adapter, features),
    bytes: () => bytes,
    make,
    free(buffer) {
      bytes -= buffer.size;
      buffer.destroy();
    },
    async hasRoom(wanted) {
      device.pushErrorScope("out-of-memory");
      const usage = GPUBufferUsage.STORAGE;
      const made: GPUBuffer[] = [];
      for (let left = wanted; left > 0; left -= askedAtOnce)
        made.push(device.createBuffer({ size: 4 * Math.ceil(Math.min(left, askedAtOnce) / 4), usage }));
      const refused = await awake(device.popErrorScope());
      for (const buffer of made) buffer.destroy();
      // a device frees what was destroyed once later work is done
      const small = device.createBuffer({
        size: 16,
        usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC,
      });
      const encoder = device.createCommandEncoder();
      encoder.clearBuffer(small);
      device.queue.submit([encoder.finish()]);
      await read(small, 16);
      small.destroy();
      return refused === null;
    },
    pipeline(code) {
      const known = pipelines.get(code);
      if (known) return known;
      const module = device.createShaderModule({ code });
      const made = awake(
        device.createComputePipelineAsync({
          layout: "auto",
          compute: { module, entryPoint: "main" },
        }),
      );
      pipelines.set(code, made);
      return made;
    },
    read,
    check,
    close() {
      closing = true;
      device.destroy();
    },
  };
}
