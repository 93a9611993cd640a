/** Forward and backward passes of a model on a GPU. */
import type { TypedArray } from "../../../tensor/execute.ts";
import type { Gpu, GpuArray } from "../../../tensor/wgsl/device.ts";
import { fromGpu } from "../../../tensor/wgsl/program.ts";
import type { DeviceModel } from "../deviceModel.ts";
import { isNotZero, noForward, rowFeeds } from "../passFeeds.ts";
import type { ScoringShape } from "../programs.ts";
import type { Running } from "./kind.ts";
import { zeros } from "./steps.ts";
import { named } from "./units.ts";

/** What a forward pass kept for its backward pass. */
interface Kept {
  readonly shape: ScoringShape;
  readonly feeds: Readonly<Record<string, GpuArray | TypedArray>>;
  readonly arrays: readonly GpuArray[];
}

const scaled = (of: Readonly<Record<string, Float32Array>>, by: number): Record<string, Float32Array> =>
  Object.fromEntries(
    Object.entries(of).map(([name, x]) => [`d.${name}`, by === 1 ? x : x.map((v) => v * by)]),
  );

async function readAll(
  gpu: Gpu,
  of: Readonly<Record<string, GpuArray>>,
  ports: readonly { readonly name: string }[],
): Promise<Record<string, TypedArray>> {
  const out: Record<string, TypedArray> = {};
  for (const { name } of ports) out[name] = await fromGpu(gpu, of[name]!);
  return out;
}

/** @returns the passes, and how to forget what a forward pass kept. */
export function passesOf(
  m: Running,
): Pick<DeviceModel, "forward" | "backward" | "inputGradient"> & { forget(): void } {
  const { kind, device, state, gradients } = m;
  const { scoring, table } = kind;
  const { gpu, pools } = device;
  let kept: Kept | undefined;

  function left(): Kept {
    const was = kept;
    kept = undefined;
    if (was) return was;
    throw noForward();
  }
  function forget(): void {
    if (kept) pools.kept.give(left().arrays);
  }

  return {
    forget,
    async forward(rows, wanted, keep) {
      const { B, T, A } = rows;
      const shape = { B, T, A, wanted };
      const feeds = { ...named("", state.weights), ...table.rows(rows.position), ...rowFeeds(rows) };
      if (!keep) {
        const program = await scoring.score(shape);
        return readAll(gpu, program.run(feeds), program.outputs);
      }
      forget(); // an objective failed between forward and backward
      const { forward, outputs, kept: ports } = await scoring.train(shape);
      const arrays = ports.map((p) => pools.kept.take(p));
      const out = forward.run(feeds, Object.fromEntries(ports.map((p, i) => [`kept.${p.name}`, arrays[i]!])));
      const byName = Object.fromEntries(ports.map((p, i) => [p.name, arrays[i]!]));
      kept = { shape, feeds: { ...feeds, ...byName }, arrays };
      return readAll(gpu, out, outputs);
    },
    async backward(into, cotangents) {
      const from = left();
      const buffer = gradients.get(into) ?? zeros(m);
      gradients.set(into, buffer);
      if (isNotZero(cotangents)) {
        const program = await (await scoring.train(from.shape)).backward(Object.keys(cotangents));
        program.run({ ...from.feeds, ...scaled(cotangents, m.lossScale), ...named("into.", buffer) });
      }
      pools.kept.give(from.arrays);
    },
    async inputGradient(cotangents) {
      const from = left();
      const program = await (await scoring.train(from.shape)).inputGradient(Object.keys(cotangents));
      const out = program.run({ ...from.feeds, ...scaled(cotangents, m.lossScale) });
      pools.kept.give(from.arrays);
      const gradient = (await fromGpu(gpu, out["d.embedded"]!)) as Float32Array;
      return m.lossScale === 1 ? gradient : gradient.map((x) => x / m.lossScale);
    },
  };
}
