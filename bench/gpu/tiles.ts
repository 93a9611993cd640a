/** Times the tiles of products on this GPU, for the shapes of training steps: `node bench/gpu/tiles.ts [SIZE...]`. One JSON line each. */
import { type CoreTile, coreProduct } from "../../src/tensor/wgsl/coreProducts.ts";
import { openGpu } from "../../src/tensor/wgsl/device.ts";
import type { ProductKernel, ProductShape } from "../../src/tensor/wgsl/productShape.ts";
import { f32Product, splitsOf, type Tile } from "../../src/tensor/wgsl/products.ts";

const gpu = await openGpu({ software: process.env.WHETSTONE_SOFTWARE_GPU === "1", checked: false });
const largest = 6144 * 49152;
const buffers = [0, 1, 2].map(() => gpu.make(4 * largest));
// small whole numbers in the factors: every tile must give the same sums
const data = Float32Array.from({ length: 1 << 20 }, (_, i) => ((i * 37) % 17) - 8);
for (const b of buffers.slice(0, 2))
  for (let at = 0; at < 64; at++) gpu.device.queue.writeBuffer(b, at << 22, data);

interface Shape {
  readonly form: "NT" | "NN" | "TN";
  readonly M: number;
  readonly N: number;
  readonly K: number;
}
const model = (tokens: number, width: number, qkv: number, ff: number, vocabulary: number): Shape[] => {
  const layers = [
    [qkv, width],
    [width, width],
    [2 * ff, width],
    [width, ff],
    [vocabulary, width],
  ] as const;
  return layers.flatMap(([out, into]): Shape[] => [
    { form: "NT", M: tokens, N: out, K: into },
    { form: "NN", M: tokens, N: into, K: out },
    { form: "TN", M: out, N: into, K: tokens },
  ]);
};
const models: Record<string, Shape[]> = {
  "135M": model(6144, 576, 960, 1536, 49152),
  "25M": model(6144, 512, 1536, 1280, 2048),
};

const core = (BM: number, BN: number, subgroups: number, across: number, BK = 32): CoreTile => ({
  BM,
  BN,
  BK,
  subgroups,
  across,
});
const cores = [
  core(128, 128, 8, 4),
  core(128, 128, 4, 2),
  core(128, 128, 4, 2, 16),
  core(128, 128, 8, 4, 16),
  core(128, 64, 4, 2),
  core(128, 64, 4, 1),
  core(128, 192, 8, 4),
  core(128, 192, 8, 2),
  core(128, 96, 4, 2),
  core(64, 192, 4, 4),
  core(256, 64, 4, 1),
  core(256, 96, 8, 2),
  core(256, 128, 8, 2),
  core(64, 64, 4, 2),
  core(96, 96, 4, 2),
  core(192, 64, 4, 2),
  core(192, 96, 4, 2),
  core(192, 128, 8, 4),
  core(192, 192, 8, 4),
];
const plain = (BM: number, BN: number, BK: number, TM: number, TN: number): Tile => ({ BM, BN, BK, TM, TN });
const plains = [
  plain(128, 128, 16, 8, 8),
  plain(128, 64, 16, 8, 8),
  plain(128, 64, 16, 8, 4),
  plain(64, 128, 16, 8, 8),
  plain(64, 64, 16, 8, 8),
  plain(64, 64, 32, 4, 4),
  plain(128, 128, 8, 8, 8),
];

async function timed(kernel: ProductKernel, flops: number): Promise<number> {
  const pipeline = await gpu.pipeline(kernel.code);
  gpu.check();
  const group = gpu.device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const run = async (times: number): Promise<number> => {
    const begun = performance.now();
    const encoder = gpu.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    for (let t = 0; t < times; t++) pass.dispatchWorkgroups(...kernel.groups);
    pass.end();
    gpu.device.queue.submit([encoder.finish()]);
    await gpu.read(buffers[2]!, 4);
    return performance.now() - begun;
  };
  const once = await run(2);
  const times = Math.max(4, Math.min(60, Math.ceil(15 / (once / 2))));
  const short = await run(4);
  return (flops * times) / ((await run(times + 4)) - short) / 1e9;
}

async function checksum(length: number): Promise<number> {
  const out = new Float32Array(await gpu.read(buffers[2]!, 4 * Math.min(length, 1 << 18)));
  let sum = 0;
  for (let i = 0; i < out.length; i++) sum = (sum * 31 + out[i]!) % 1e9;
  return sum;
}

for (const name of process.argv.slice(2).filter((n) => n in models)) {
  for (const shape of models[name]!) {
    const { form, M, N, K } = shape;
    const transposeA = form === "TN";
    const transposeB = form === "NT";
    const whole = {
      M,
      N,
      K,
      batch: { of: [], a: [], b: [] },
      transposeA,
      transposeB,
      scale: 1,
      plus: "nothing" as const,
    };
    const options = {
      sharedBytes: gpu.sharedBytes,
      tiles: "large" as const,
      precision: "f16" as const,
      packed: true,
    };
    const flops = 2 * M * N * K;
    const auto = splitsOf(whole, options);
    const jobs: { label: string; kernel: ProductKernel; whole: boolean }[] = [];
    for (const splits of transposeA ? [...new Set([auto, 2 * auto, 1])] : [1]) {
      if (K % (splits * 64) !== 0) continue;
      const s: ProductShape = { ...whole, splits };
      const part = splits > 1 ? ` /${splits}` : "";
      for (const tile of gpu.cores ? cores : []) {
        if (N % tile.BN !== 0 || (transposeA && M % tile.BM !== 0)) continue;
        const label = `c ${tile.BM}x${tile.BN} s${tile.subgroups}/${tile.across} k${tile.BK}${part}`;
        jobs.push({ label, kernel: coreProduct(s, tile, options), whole: splits === 1 });
      }
      for (const tile of name === "25M" ? plains : []) {
        const label = `f ${tile.BM}x${tile.BN}x${tile.BK} ${tile.TM}x${tile.TN}${part}`;
        jobs.push({ label, kernel: f32Product(s, options, tile), whole: splits === 1 });
      }
    }
    await Promise.all(jobs.map(({ kernel }) => gpu.pipeline(kernel.code)));
    const results: Record<string, number> = {};
    const sums: Record<string, number> = {};
    for (const { label, kernel, whole } of jobs) {
      results[label] = Math.round((await timed(kernel, flops)) * 10) / 10;
      if (whole) sums[label] = await checksum(M * N);
    }
    const values = Object.values(sums);
    const usual = values.toSorted(
      (a, b) => values.filter((x) => x === b).length - values.filter((x) => x === a).length,
    )[0];
    const wrong = Object.keys(sums).filter((label) => sums[label] !== usual);
    console.log(JSON.stringify({ model: name, ...shape, wrong, splits: auto, results }));
  }
}
process.exit();
