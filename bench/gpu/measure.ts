/**
 * Measures this machine's GPU, one JSON line for each figure.
 *
 *     node bench/gpu/measure.ts about | products | train SIZE PRECISION ROWS | decode SIZE PRECISION ROWS | iterate SIZE PRECISION | memory SIZE
 *
 * WHETSTONE_SOFTWARE_GPU=1 takes a software adapter, to try the script where there is no GPU.
 */
import { median } from "../../src/common/statistics/statistics.ts";
import { pack } from "../../src/common/tokens/pack.ts";
import type { Row } from "../../src/core/batch.ts";
import type { Model, Sample } from "../../src/core/model.ts";
import { chatCodec } from "../../src/engine/local/codec.ts";
import { plain } from "../../src/engine/local/config.ts";
import type { DeviceModel } from "../../src/engine/local/deviceModel.ts";
import { gpuDevice } from "../../src/engine/local/gpu/model.ts";
import { startHost } from "../../src/engine/local/host.ts";
import { localModel } from "../../src/engine/local/model.ts";
import { gridOf } from "../../src/engine/local/packing.ts";
import {
  type Architecture,
  allParameters,
  sizeOfParameter,
  type Weights,
} from "../../src/engine/local/parameters.ts";
import type { Precision } from "../../src/engine/local/precision.ts";
import { startReader } from "../../src/engine/local/reader.ts";
import { sampler } from "../../src/engine/local/sampler.ts";
import { wordTokenizer } from "../../src/engine/local/tokenizer.ts";
import { clippedRatio } from "../../src/objective/clippedRatio.ts";
import { input } from "../../src/tensor/graph.ts";
import { matmul } from "../../src/tensor/ops/matmul.ts";
import { openGpu } from "../../src/tensor/wgsl/device.ts";
import { arena, fromGpu, gpuProgram, toGpu } from "../../src/tensor/wgsl/program.ts";

const software = process.env.WHETSTONE_SOFTWARE_GPU === "1";
const say = (what: Record<string, unknown>): void => console.log(JSON.stringify(what));

const shapes: Record<string, Architecture["config"]> = {
  tiny: shape(64, 32, 1, 2, 1, 64),
  "0.5M": shape(512, 128, 2, 4, 4, 320),
  "25M": shape(2048, 512, 8, 8, 8, 1280),
  "135M": shape(49152, 576, 30, 9, 3, 1536),
  "360M": shape(49152, 960, 32, 15, 5, 2560),
};

function shape(
  vocabulary: number,
  width: number,
  layers: number,
  heads: number,
  kvHeads: number,
  feedForward: number,
) {
  const headWidth = width / heads;
  const sizes = { vocabulary, width, layers, heads, kvHeads, headWidth, feedForward };
  return { ...plain, ...sizes, ropeTheta: 10_000, epsilon: 1e-5, contextTokens: 512, tied: true };
}

/** Gaussian weights from a repeated table: drawing 135 million numbers would take longer than the measurement. */
function weightsFor(a: Architecture): Weights {
  const table = Float32Array.from({ length: 65_537 }, (_, i) => {
    const u = ((i * 2_654_435_761) % 4_294_967_296) / 4_294_967_296;
    const v = ((i * 40_503 + 77) % 65_537) / 65_537;
    return Math.sqrt(-2 * Math.log(u + 1e-9)) * Math.cos(2 * Math.PI * v);
  });
  let at = 0;
  return new Map(
    allParameters(a).map((p) => {
      const values = new Float32Array(sizeOfParameter(p));
      if (p.deviation === 0) values.fill(p.mean);
      else for (let i = 0; i < values.length; i++) values[i] = p.deviation * table[at++ % table.length]!;
      return [p.name, values];
    }),
  );
}

const opened = () => openGpu({ software, checked: false });

async function about(): Promise<void> {
  const gpu = await opened();
  say({
    about: gpu.adapter,
    cores: gpu.cores,
    bindings: gpu.bindings,
    shared: gpu.sharedBytes,
    node: process.version,
  });
}

/** TFLOP/s of square products, each form that training uses. */
async function products(sides: readonly number[]): Promise<void> {
  const gpu = await opened();
  const shared = arena(gpu);
  for (const n of sides) {
    const data = toGpu(
      gpu,
      Float32Array.from({ length: n * n }, (_, i) => ((i * 37) % 129) / 64 - 1),
    );
    for (const [form, options] of Object.entries({
      NN: {},
      NT: { transposeB: true },
      TN: { transposeA: true },
    })) {
      for (const [precision, packed] of [
        ["f32", false],
        ["f16", false],
        ["f16", true],
      ] as const) {
        if (precision === "f16" && !gpu.cores) continue;
        const [a, b] = [input("a", [n, n]), input("b", [n, n])];
        const program = await gpuProgram(
          gpu,
          [a, b],
          { y: matmul(a, b, options) },
          { arena: shared, precision, packed },
        );
        const run = () => program.run({ a: data, b: data });
        const y = (await fromGpu(gpu, run().y!)) as Float32Array;
        const host = (await fromGpu(gpu, data)) as Float32Array;
        let error = 0;
        for (const i of [0, 1, n - 1, (n * 5) >> 3]) {
          for (const j of [0, 2, n - 1, (n * 3) >> 3]) {
            let sum = 0;
            for (let k = 0; k < n; k++) {
              const x = form === "TN" ? host[k * n + i]! : host[i * n + k]!;
              sum += x * (form === "NT" ? host[j * n + k]! : host[k * n + j]!);
            }
            error = Math.max(error, Math.abs(sum - y[i * n + j]!) / n);
          }
        }
        const times = Math.max(1, Math.min(200, Math.round(2e12 / n ** 3)));
        const start = performance.now();
        for (let t = 0; t < times; t++) run();
        await gpu.read(program.run({ a: data, b: data }).y!.buffer, 4);
        const ms = (performance.now() - start) / (times + 1);
        say({ product: n, form, precision, packed, tflops: (2 * n ** 3) / ms / 1e9, error });
        program.release();
      }
    }
    gpu.free(data.buffer);
  }
}

const flopsPerToken = (a: Architecture, T: number): number => {
  const c = a.config;
  const n = allParameters(a).reduce((sum, p) => sum + sizeOfParameter(p), 0);
  return 6 * n + 12 * c.layers * c.heads * c.headWidth * T;
};

/** B rows of T tokens, each a target. */
const denseRows = (B: number, T: number, vocabulary: number) => {
  const each = (of: (i: number) => number) => Int32Array.from({ length: B * T }, (_, i) => of(i));
  const token = (i: number): number => (Math.imul(i + 1, 40_503) >>> 3) % vocabulary;
  return {
    ...{ B, T, A: B * T },
    tokens: each(token),
    position: each((i) => i % T),
    end: each(() => T - 1),
    context: each((i) => i),
    back: each((i) => i),
    targets: each((i) => token(i + 1)),
  };
};

/** Whole steps: forward with the log-probabilities read back, backward, AdamW. */
async function train(size: string, precision: Precision, B: number, profile: boolean): Promise<void> {
  const begun = performance.now();
  const a: Architecture = { config: shapes[size]!, heads: [] };
  const device = await gpuDevice({ precision, software });
  const T = 192;
  const model = await device.create(a, { weights: weightsFor(a), steps: 0, version: 0 });
  const loaded = performance.now();
  const rows = denseRows(B, T, a.config.vocabulary);
  const wanted = { entropy: false, topk: 0, at: 0, heads: [], hidden: [] };
  const cotangent = new Float32Array(rows.A).fill(-1 / rows.A);
  const losses: number[] = [];
  const step = async (): Promise<void> => {
    const { logp } = await model.forward(rows, wanted, true);
    losses.push(-(logp as Float32Array).reduce((x, y) => x + y, 0) / rows.A);
    await model.backward("main", { logp: cotangent });
    await model.step({ learningRate: 1e-4, betas: [0.9, 0.95], weightDecay: 0.01, optimiser: "adamw" });
  };
  await step();
  const first = performance.now();
  await step();
  await step();
  const seconds: number[] = [];
  const until = performance.now() + (software ? 1 : 4000);
  do {
    const start = performance.now();
    await step();
    seconds.push((performance.now() - start) / 1000);
  } while (performance.now() < until || seconds.length < 3);
  const s = median(seconds);
  say({
    train: size,
    precision,
    rows: B,
    tokensPerSecond: rows.A / s,
    ms: 1000 * s,
    steps: seconds.length,
    tflops: (flopsPerToken(a, T) * rows.A) / s / 1e12,
    firstStepSeconds: (first - loaded) / 1000,
    loadSeconds: (loaded - begun) / 1000,
    losses: [losses[0], losses.at(-1)],
    mib: device.bytes() / 2 ** 20,
  });
  if (profile) {
    for (const [name, kinds] of Object.entries(await device.profile()))
      say({
        profile: name,
        kinds: Object.fromEntries([...kinds].sort((x, y) => y[1].ms - x[1].ms).slice(0, 14)),
      });
  }
  device.close();
}

function policy(size: string, precision: Precision): Promise<Model> {
  const config = shapes[size]!;
  const a: Architecture = { config, heads: [] };
  const host = startHost({ threads: 1, device: "gpu", precision, memory: 2 ** 32, prefixBytes: 0 });
  const tokenizer = wordTokenizer(["w"]);
  const contents = { weights: weightsFor(a), steps: 0, version: 0 };
  // an end token that random weights hardly ever draw
  return host.call("create", a, { padId: 0, endId: 1 }, contents).then((handle) => {
    const parts = {
      host,
      architecture: a,
      tokenizer,
      codec: chatCodec(tokenizer),
      reader: startReader(tokenizer),
      places: 8192,
      grid: gridOf("gpu"),
    };
    return localModel("policy", parts, handle, { version: 0, base: undefined });
  });
}

const prompts = (size: string, distinct: number, copies: number, length: number): Int32Array[] =>
  Array.from({ length: distinct * copies }, (_, i) =>
    Int32Array.from(
      { length },
      (_, t) =>
        2 +
        ((Math.imul((Math.floor(i / copies) + 1) * 977 + t, 40_503) >>> 3) % (shapes[size]!.vocabulary - 2)),
    ),
  );

const requestsFor = (from: readonly Int32Array[], maxTokens: number, seed: number) =>
  from.map((prompt, i) => ({ prompt, maxTokens, seed: seed * 1000 + i }));

async function decode(size: string, precision: Precision, rows: number): Promise<void> {
  const model = await policy(size, precision);
  const given = prompts(size, rows, 1, 32);
  const tokens = software ? 8 : 128;
  await model.sample(requestsFor(given, tokens, 0));
  const rates: number[] = [];
  for (let k = 1; k <= (software ? 1 : 4); k++) {
    const start = performance.now();
    const samples = await model.sample(requestsFor(given, tokens, k));
    const count = samples.reduce((n, s) => n + s.action.length, 0);
    rates.push((1000 * count) / (performance.now() - start));
  }
  say({ decode: size, precision, rows, tokens, tokensPerSecond: median(rates) });
}

/** Samples on the device itself. @returns the number of passes. */
async function sampled(a: Architecture, model: DeviceModel, requests: ReturnType<typeof requestsFor>) {
  const codec = { padId: 0, endId: 1, decode: () => "" };
  const models = model.readings({ codec, other: () => model });
  const sampling = sampler({ config: a.config, codec, models, version: "0" });
  const done = sampling.sample(requests);
  let steps = 0;
  for (; sampling.busy; steps++) await sampling.step();
  await done;
  sampling.close();
  return steps;
}

/** Memory of the device and of the process over 2,000 tiny iterations: 8 samples and one step, each with other lengths. */
async function memory(size: string): Promise<void> {
  const a: Architecture = { config: shapes[size]!, heads: [] };
  const device = await gpuDevice({ precision: "f32", software });
  const model = await device.create(a, { weights: weightsFor(a), steps: 0, version: 0 });
  const wanted = { entropy: false, topk: 0, at: 0, heads: [], hidden: [] };
  let said = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < 2000; i++) {
    if (performance.now() - said > 5000 || i === 1999) {
      said = performance.now();
      say({
        memory: size,
        iterations: i,
        deviceMiB: device.bytes() / 2 ** 20,
        processMiB: process.memoryUsage().rss / 2 ** 20,
      });
    }
    await sampled(a, model, requestsFor(prompts(size, 8, 1, 4 + (i % 13)), 4 + (i % 5), i));
    const rows = denseRows(8, 16 * (1 + (i % 4)), a.config.vocabulary);
    await model.forward(rows, wanted, true);
    await model.backward("main", { logp: new Float32Array(rows.A).fill(-1 / rows.A) });
    await model.step({ learningRate: 1e-4 });
  }
  device.close();
}

/** Milliseconds of each kind of kernel of a decoding pass. */
async function decodeProfile(size: string, precision: Precision, rows: number): Promise<void> {
  const a: Architecture = { config: shapes[size]!, heads: [] };
  const device = await gpuDevice({ precision, software });
  const model = await device.create(a, { weights: weightsFor(a), steps: 0, version: 0 });
  const start = performance.now();
  const steps = await sampled(a, model, requestsFor(prompts(size, rows, 1, 32), 64, 1));
  say({ decodeSteps: steps, ms: performance.now() - start });
  for (const [name, kinds] of Object.entries(await device.profile()))
    say({
      profile: name,
      kinds: Object.fromEntries([...kinds].sort((x, y) => y[1].ms - x[1].ms).slice(0, 16)),
    });
}

/** Rows of a group with their advantages, as an update gets them. */
function batchOf(given: readonly Int32Array[], samples: readonly Sample[], copies: number) {
  const rows = samples.map((sample, i): Row => {
    const n = sample.action.length;
    const group = `g${Math.floor(i / copies)}`;
    const info = {
      trajectory: `t${i}`,
      task: group,
      role: "agent",
      model: "policy",
      version: sample.version,
      origin: "sampled" as const,
      context: "sampled" as const,
      unit: `t${i}`,
      group,
      from: 0,
    };
    const prompt = given[i]!;
    return {
      info,
      tokens: Int32Array.from([...prompt, ...sample.action]),
      targets: Int32Array.from({ length: n }, (_, t) => prompt.length + t),
      turn: new Int32Array(n),
      logp: sample.logp,
      behaviour: sample.behaviour,
      advantage: new Float32Array(n).fill(i % 2 === 0 ? 1 : -1),
      weight: new Float32Array(n).fill(1),
    };
  });
  return pack(
    rows,
    rows.map(({ info }) => ({ id: info.unit, group: info.group, members: [info.trajectory] })),
  );
}

/** GRPO iterations: 8 prompts × 8 replies of 64 tokens, one update. */
async function iterate(size: string, precision: Precision): Promise<void> {
  const model = await policy(size, precision);
  const given = prompts(size, 8, 8, 64);
  const objective = clippedRatio();
  const parts: { sample: number; update: number; gap: number }[] = [];
  for (let k = 0; k < (software ? 2 : 8); k++) {
    const start = performance.now();
    const samples = await model.sample(requestsFor(given, software ? 8 : 64, k));
    const sampled = performance.now();
    const batch = batchOf(given, samples, 8);
    const aux = await objective.prepare(undefined as never, batch);
    const stats = await model.accumulate(batch, objective, aux);
    await model.step({ learningRate: 1e-6, clip: 1 });
    const done = performance.now();
    const gap = (stats["logpGap.sum"] ?? Number.NaN) as number;
    parts.push({ sample: sampled - start, update: done - sampled, gap });
    if (k === 0) say({ firstIteration: size, precision, seconds: (done - start) / 1000, stats });
  }
  const later = parts.slice(software ? 1 : 2);
  say({
    iterate: size,
    precision,
    seconds: median(later.map((p) => p.sample + p.update)) / 1000,
    sampleSeconds: median(later.map((p) => p.sample)) / 1000,
    updateSeconds: median(later.map((p) => p.update)) / 1000,
  });
}

const [stage, size = "tiny", precision = "f32", rows = "32", more] = process.argv.slice(2);
switch (stage) {
  case "about":
    await about();
    break;
  case "products":
    await products(software ? [128] : [1024, 4096]);
    break;
  case "train":
    await train(size, precision as Precision, Number(rows), more === "profile");
    break;
  case "decode":
    await decode(size, precision as Precision, Number(rows));
    break;
  case "decodeProfile":
    await decodeProfile(size, precision as Precision, Number(rows));
    break;
  case "iterate":
    await iterate(size, precision as Precision);
    break;
  case "memory":
    await memory(size);
    break;
  default:
    console.error(
      "node bench/gpu/measure.ts about | products | train SIZE PRECISION ROWS [profile] | decode SIZE PRECISION ROWS | iterate SIZE PRECISION | memory SIZE",
    );
    process.exitCode = 2;
}
process.exit();
