/** Copies of keys and values between the caches of rows on a GPU. */
import type { Gpu, GpuArray } from "../../../tensor/wgsl/device.ts";
import type { Move } from "../cache.ts";
import type { DecoderConfig } from "../config.ts";

interface Part {
  readonly places: number;
  readonly arrays: Readonly<Record<string, GpuArray>>;
}

const code = (heads: number, width: number, from: number, to: number): string => `
@group(0) @binding(0) var<storage, read> moves: array<u32>;
@group(0) @binding(1) var<storage, read> source: array<f32>;
@group(0) @binding(2) var<storage, read_write> target_: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) li: u32) {
  let at = wg.x * 256u + li;
  let first = moves[wg.z * 3u]; let second = moves[wg.z * 3u + 1u]; let length = moves[wg.z * 3u + 2u];
  if (at >= length * ${width}u) { return; }
  target_[(second * ${heads}u + wg.y) * ${to * width}u + at] = source[(first * ${heads}u + wg.y) * ${from * width}u + at];
}`;

/** Copies rows from one set of arrays to another, from the first position on. */
export async function moveRows(
  gpu: Gpu,
  c: DecoderConfig,
  from: Part,
  to: Part,
  moves: readonly Pick<Move, "from" | "to" | "length">[],
): Promise<void> {
  if (moves.length === 0) return;
  const { kvHeads, headWidth } = c;
  const longest = Math.max(...moves.map((m) => m.length));
  const pipeline = await gpu.pipeline(code(kvHeads, headWidth, from.places, to.places));
  const list = gpu.make(12 * moves.length);
  gpu.device.queue.writeBuffer(list, 0, Uint32Array.from(moves.flatMap((m) => [m.from, m.to, m.length])));
  const encoder = gpu.device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  for (const [name, source] of Object.entries(from.arrays)) {
    const buffers = [list, source.buffer, to.arrays[name]!.buffer];
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    pass.setBindGroup(0, gpu.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(Math.ceil((longest * headWidth) / 256), kvHeads, moves.length);
  }
  pass.end();
  gpu.device.queue.submit([encoder.finish()]);
  gpu.free(list);
}
