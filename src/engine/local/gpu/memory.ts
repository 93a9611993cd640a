/** Memory of a GPU that models share or take in turn. */

import type { Port } from "../../../tensor/compile.ts";
import { sizeOf } from "../../../tensor/shape.ts";
import type { Gpu, GpuArray } from "../../../tensor/wgsl/device.ts";
import { roomFor } from "../../../tensor/wgsl/products.ts";
import { toGpu } from "../../../tensor/wgsl/program.ts";

/** Memory that is taken and given back again and again. Each use has a pool of its own, so that it gets the same arrays again. */
export interface Pool {
  /** Memory for a program's output; what it holds is arbitrary. */
  take(p: Port): GpuArray;
  /** Zeros of these lengths. */
  zeros(lengths: readonly number[]): GpuArray[];
  /** Keeps no more than so many bytes in all, as long as less is in use. */
  bound(bytes: number): void;
  /** Gives arrays back; the next ones that are taken in the same order are the same. */
  give(of: readonly GpuArray[]): void;
}

/** Arrays that several models may hold. */
export interface HeldArrays {
  load(data: Float32Array): GpuArray;
  duplicate(x: GpuArray): GpuArray;
  /** One more holder of an array; `drop` once for each. */
  hold(x: GpuArray): GpuArray;
  drop(x: GpuArray): void;
}

function encoded(gpu: Gpu, work: (encoder: GPUCommandEncoder) => void): void {
  const encoder = gpu.device.createCommandEncoder();
  work(encoder);
  gpu.device.queue.submit([encoder.finish()]);
}

/**
 * A pool keeps at most as much free memory as was ever taken at once: a run of two shapes in turn makes no new memory, and one
 * of many shapes does not keep that of all. A pool with a bound frees what was not used for longest before it goes beyond.
 */
export function gpuPool(gpu: Gpu): Pool {
  /** By size; the size that was given back last is the last. */
  const free = new Map<number, GPUBuffer[]>();
  let [taken, most, kept] = [0, 0, 0];
  let bound = Number.POSITIVE_INFINITY;
  const buffer = (bytes: number): GPUBuffer => {
    const whole = Math.max(16, Math.ceil(bytes / 16) * 16);
    const known = free.get(whole)?.pop();
    if (known) kept -= whole;
    taken += whole;
    most = Math.max(most, taken);
    if (!known) trim();
    return known ?? gpu.make(whole);
  };
  /** Frees what was not used for longest. */
  const trim = (): void => {
    const mayKeep = (): boolean => kept <= Math.max(0, Math.min(most, bound - taken));
    for (const [size, list] of free) {
      while (!mayKeep() && list.length > 0) {
        gpu.free(list.shift()!);
        kept -= size;
      }
      if (list.length === 0) free.delete(size);
      if (mayKeep()) return;
    }
  };
  return {
    bound(bytes) {
      bound = bytes;
      trim();
    },
    take: (p) => ({ buffer: buffer(roomFor(p.shape)), dtype: p.dtype, length: sizeOf(p.shape) }),
    zeros(lengths) {
      const made = lengths.map(
        (length): GpuArray => ({ buffer: buffer(4 * length), dtype: "float32", length }),
      );
      encoded(gpu, (encoder) => {
        for (const x of made) encoder.clearBuffer(x.buffer);
      });
      return made;
    },
    give(of) {
      for (const { buffer } of of.toReversed()) {
        const list = free.get(buffer.size) ?? [];
        list.push(buffer);
        free.delete(buffer.size);
        free.set(buffer.size, list);
        taken -= buffer.size;
        kept += buffer.size;
      }
      trim();
    },
  };
}

export function heldArrays(gpu: Gpu): HeldArrays {
  const holders = new Map<GPUBuffer, number>();
  const hold = (x: GpuArray): GpuArray => {
    holders.set(x.buffer, (holders.get(x.buffer) ?? 0) + 1);
    return x;
  };
  return {
    load: (data) => hold(toGpu(gpu, data)),
    duplicate(x) {
      const copy = gpu.make(4 * x.length);
      encoded(gpu, (encoder) => encoder.copyBufferToBuffer(x.buffer, 0, copy, 0, copy.size));
      return hold({ ...x, buffer: copy });
    },
    hold,
    drop(x) {
      const left = (holders.get(x.buffer) ?? 1) - 1;
      holders.set(x.buffer, left);
      if (left > 0) return;
      holders.delete(x.buffer);
      gpu.free(x.buffer);
    },
  };
}
