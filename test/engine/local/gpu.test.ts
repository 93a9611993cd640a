// A model on a graphics adapter beside the same model on the CPU. A software adapter will do; without one, a line says so.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Sample } from "../../../src/core/model.ts";
import { randomStream } from "../../../src/core/random.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import { cpuDevice } from "../../../src/engine/local/cpuModel.ts";
import { longestStored } from "../../../src/engine/local/decoder.ts";
import type { ComputeDevice, DeviceModel } from "../../../src/engine/local/deviceModel.ts";
import { gpuPool } from "../../../src/engine/local/gpu/memory.ts";
import { type GpuDevice, gpuDevice } from "../../../src/engine/local/gpu/model.ts";
import {
  type Architecture,
  adapterParameters,
  firstWeights,
  headParameters,
} from "../../../src/engine/local/parameters.ts";
import { type Sampler, sampler } from "../../../src/engine/local/sampler.ts";
import { openGpu } from "../../../src/tensor/wgsl/device.ts";
import { livelyWeights, near, tinyConfig } from "./support.ts";

const gpu: GpuDevice | undefined = await gpuDevice({ precision: "f32", checked: true }).catch((e: Error) => {
  console.log(`no adapter: ${e.message.split("\n")[0]}`);
  return undefined;
});
const cpu = cpuDevice({ threads: 2 }, 0);
after(() => gpu?.close());

const architectures: Record<string, Architecture> = {
  "Llama's shape with a value head": { config: tinyConfig, heads: ["value"] },
  "Qwen2's biases and untied output": {
    config: { ...tinyConfig, bias: { qkv: true, output: false, feedForward: false }, tied: false },
    heads: [],
  },
  "Qwen3's norms of queries and keys": { config: { ...tinyConfig, qkNorm: true }, heads: [] },
};

/** The same weights on a device. */
function made(device: ComputeDevice, a: Architecture): Promise<DeviceModel> {
  const heads = firstWeights(headParameters(a.config, a.heads), randomStream("heads"));
  const weights = new Map([...livelyWeights(a.config), ...heads]);
  return device.create(a, { weights, steps: 0, version: 0 });
}

/** Two sequences of T positions. @param every whether each position has a target. */
function rows(vocabulary: number, T = 16, every = false) {
  const B = 2;
  const random = randomStream("rows");
  const some = Int32Array.from([0, 1, 5, 9, T + 1, T + 4, 2 * T - 2]);
  const context = every ? Int32Array.from({ length: B * T }, (_, i) => i) : some;
  const A = context.length;
  const back = new Int32Array(B * T).fill(A);
  context.forEach((at, i) => {
    back[at] = i;
  });
  return {
    B,
    T,
    A,
    tokens: Int32Array.from({ length: B * T }, () => random.below(vocabulary)),
    position: Int32Array.from({ length: B * T }, (_, i) => i % T),
    end: new Int32Array(B * T).fill(T - 1),
    context,
    back,
    targets: Int32Array.from({ length: A }, () => random.below(vocabulary)),
  };
}

const floats = (outputs: Record<string, unknown>): [string, Float32Array][] =>
  Object.entries(outputs).filter((e): e is [string, Float32Array] => e[1] instanceof Float32Array);

/** Three steps of both models, which must agree in outputs, gradients and weights. */
async function stepTogether(
  ours: DeviceModel,
  theirs: DeviceModel,
  a: Architecture,
  batch = rows(a.config.vocabulary),
  learningRate = 0.01,
) {
  const wanted = { entropy: true, topk: 2, at: 0, heads: a.heads, hidden: [1] };
  for (let step = 0; step < 3; step++) {
    const outputs = await theirs.forward(batch, wanted, true);
    const got = await ours.forward(batch, wanted, true);
    for (const [output, want] of floats(outputs)) near(got[output] as Float32Array, want, 1e-4, output);
    const random = randomStream("cotangents").split(step);
    const cotangents = Object.fromEntries(
      floats(outputs).map(([output, x]) => [output, x.map(() => 0.1 * random.normal())]),
    );
    const stats = [];
    for (const model of [theirs, ours]) {
      await model.backward("main", cotangents);
      stats.push(await model.step({ learningRate, weightDecay: 0.1, clip: 1 }));
    }
    near([stats[1]!.gradientNorm! / stats[0]!.gradientNorm!], [1], 1e-4, "gradient norm");
  }
  const [want, got] = [await theirs.contents(), await ours.contents()];
  for (const [parameter, x] of want.weights) near(got.weights.get(parameter)!, x, 1e-3, parameter);
  ours.drop();
}

for (const [name, a] of Object.entries(architectures)) {
  test(`outputs, gradients and steps are the CPU's: ${name}`, { skip: !gpu }, async () => {
    await stepTogether(await made(gpu!, a), await made(cpu, a), a);
  });
}

test("the same of sequences so long that their scores are not stored", { skip: !gpu }, async () => {
  const T = longestStored + 64;
  const a: Architecture = { config: { ...tinyConfig, contextTokens: T }, heads: [] };
  await stepTogether(await made(gpu!, a), await made(cpu, a), a, rows(a.config.vocabulary, T));
});

test("the same with little memory: activations are computed twice, scores in parts", {
  skip: !gpu,
}, async () => {
  const T = 300;
  const a: Architecture = { config: { ...tinyConfig, contextTokens: T }, heads: ["value"] };
  const little = await gpuDevice({ precision: "f32", checked: true, memory: 1 });
  // AdamW makes as much of a small gradient's rounding as of a large one: its steps are short where there are many targets
  await stepTogether(await made(little, a), await made(cpu, a), a, rows(a.config.vocabulary, T, true), 1e-3);
  little.close();
});

/** @param other the model of mixtures. */
function samplerOf(model: DeviceModel, config: DecoderConfig, other = model) {
  const codec = { padId: 0, endId: 1, decode: () => "" };
  const models = model.readings({ codec, other: () => other });
  return sampler({ config, codec, models, version: "0" });
}

const promptOf = (length: number): Int32Array => Int32Array.from({ length }, (_, t) => 2 + ((t * 7) % 20));

async function finished<T>(sampling: Sampler, done: Promise<T>): Promise<T> {
  while (sampling.busy) await sampling.step();
  return await done;
}

/** Samples requests on the GPU, so many in a call, with so many calls open at once. */
async function sampled(
  model: DeviceModel,
  seeds: readonly number[],
  temperature: number,
  [batch, open]: readonly [number, number] = [seeds.length, 1],
  maxTokens = 6,
): Promise<Sample[]> {
  const sampling = samplerOf(model, tinyConfig);
  const requests = seeds.map((seed) => ({
    prompt: Int32Array.from({ length: 3 + (seed % 5) }, (_, t) => 2 + ((seed * 7 + t * 3) % 20)),
    maxTokens,
    seed,
    temperature,
  }));
  const calls = Array.from({ length: Math.ceil(seeds.length / batch) }, (_, i) =>
    requests.slice(i * batch, (i + 1) * batch),
  ).entries();
  const out: (readonly Sample[])[] = [];
  let left = open;
  const oneAfterAnother = async (): Promise<void> => {
    for (const [i, call] of calls) out[i] = await sampling.sample(call);
    left--;
  };
  const done = Promise.all(Array.from({ length: open }, oneAfterAnother));
  while (left > 0) await (sampling.busy ? sampling.step() : new Promise(setImmediate));
  await done;
  sampling.close();
  return out.flat();
}

test("a reply has the same bytes alone and among others, in many calls or few", { skip: !gpu }, async () => {
  const model = await made(gpu!, { config: tinyConfig, heads: [] });
  const seeds = Array.from({ length: 64 }, (_, seed) => seed);
  const together = await sampled(model, seeds, 1);
  // calls that wait while rows end early find tokens drawn ahead that nobody wants any more
  for (const way of [
    [7, 1],
    [1, 1],
    [1, 4],
    [1, 16],
  ] as const) {
    const count = way[0] === 7 ? 14 : 16;
    assert.deepEqual(await sampled(model, seeds.slice(0, count), 1, way), together.slice(0, count), `${way}`);
  }
  for (const temperature of [0.7, 0]) {
    const few = seeds.slice(1, 8);
    const beside = await sampled(model, few, temperature);
    for (const k of [0, 3]) {
      const [alone] = await sampled(model, [few[k]!], temperature);
      assert.deepEqual(alone, beside[k]);
    }
  }
  model.drop();
});

test("a row that ends at the end of its context leaves its neighbours alone, though tokens are drawn ahead", {
  skip: !gpu,
}, async () => {
  const config = { ...tinyConfig, contextTokens: 256 };
  const model = await made(gpu!, { config, heads: [] });
  const sampling = samplerOf(model, config);
  const [full, other] = [
    { prompt: promptOf(250), maxTokens: 6, seed: 1 },
    { prompt: promptOf(6), maxTokens: 40, seed: 2 },
  ];
  const [alone] = await finished(sampling, sampling.sample([other!]));
  const [, beside] = await finished(sampling, sampling.sample([full!, other!]));
  assert.ok(alone!.action.length > 16, "it goes on where the other has ended");
  assert.deepEqual(beside, alone);
  sampling.close();
  model.drop();
});

test("a mixture that begins after a long row has ended reads beside those that go on", {
  skip: !gpu,
}, async () => {
  const config = { ...tinyConfig, contextTokens: 512 };
  const [model, mixed] = [await made(gpu!, { config, heads: [] }), await made(gpu!, { config, heads: [] })];
  const sampling = samplerOf(model, config, mixed);
  // to its limit: no end token among what is allowed
  const allowed = Array.from({ length: 24 }, (_, i) => Int32Array.of(2 + (i % 20)));
  const long = sampling.sample([{ prompt: promptOf(300), maxTokens: 2, seed: 1, allowed }]);
  const on = sampling.sample([{ prompt: promptOf(6), maxTokens: 24, seed: 2, allowed }]);
  let ended = false;
  void long.then(() => {
    ended = true;
  });
  while (!ended) await sampling.step();
  const request = { prompt: promptOf(9), maxTokens: 4, seed: 3, mix: { of: 1, share: 0.5 } };
  const beside = await finished(sampling, sampling.sample([request]));
  assert.equal((await on)[0]!.action.length, 24);
  sampling.close();
  const by = samplerOf(model, config, mixed);
  assert.deepEqual(beside, await finished(by, by.sample([request])));
  by.close();
  for (const one of [model, mixed]) one.drop();
});

test("a long prompt is read as training reads it", { skip: !gpu }, async () => {
  const T = longestStored + 128;
  const config = { ...tinyConfig, contextTokens: T };
  const model = await made(gpu!, { config, heads: [] });
  const sampling = samplerOf(model, config);
  const prompt = promptOf(longestStored + 60);
  const done = sampling.sample([{ prompt, maxTokens: 4, seed: 1 }]);
  const [{ action, logp }] = (await finished(sampling, done)) as [Sample];
  sampling.close();
  const A = action.length;
  const tokens = new Int32Array(T);
  tokens.set([...prompt, ...action]);
  const context = action.map((_, i) => prompt.length - 1 + i);
  const back = new Int32Array(T).fill(A);
  context.forEach((at, i) => {
    back[at] = i;
  });
  const position = Int32Array.from({ length: T }, (_, i) => i);
  const end = new Int32Array(T).fill(T - 1);
  const wanted = { entropy: false, topk: 0, at: 0, heads: [], hidden: [] };
  const batch = { B: 1, T, A, tokens, position, end, context, back, targets: action };
  const { logp: want } = await model.forward(batch, wanted, false);
  near(logp, want as Float32Array, 1e-4, "logp");
  model.drop();
});

test("a copy of an adapter's model keeps its base when the model is replaced", { skip: !gpu }, async () => {
  const adapter = { rank: 2, alpha: 4, targets: ["q_proj"] } as const;
  const a: Architecture = { config: tinyConfig, heads: [], adapter };
  const trained = firstWeights(adapterParameters(tinyConfig, adapter), randomStream("adapter"));
  const weights = (seed: number) => new Map([...livelyWeights(tinyConfig, seed), ...trained]);
  const model = await gpu!.create(a, { weights: weights(1), steps: 0, version: 0 });
  const copy = await model.copy("fresh");
  const wanted = { entropy: false, topk: 0, at: 0, heads: [], hidden: [] };
  const logp = async (of: DeviceModel) =>
    (await of.forward(rows(tinyConfig.vocabulary), wanted, false)).logp as Float32Array;
  const before = await logp(copy);
  await model.replace({ weights: weights(2), steps: 0, version: 1 });
  assert.deepEqual(await logp(copy), before);
  assert.notDeepEqual(await logp(model), before);
  const bytes = gpu!.bytes();
  for (const seed of [3, 4, 5]) await model.replace({ weights: weights(seed), steps: 0, version: 1 });
  assert.equal(gpu!.bytes(), bytes, "replacing takes no more memory");
  for (const one of [model, copy]) one.drop();
});

test("memory of many shapes is not all kept, and of two shapes in turn it is", { skip: !gpu }, async () => {
  const own = await openGpu({ checked: true, software: true });
  const pool = gpuPool(own);
  const use = (elements: number): GPUBuffer => {
    const x = pool.take({ name: "x", dtype: "float32", shape: [elements] });
    pool.give([x]);
    return x.buffer;
  };
  const [a, b] = [use(5000), use(6000)];
  assert.deepEqual([use(5000), use(6000)], [a, b]);
  const sizes = Array.from({ length: 40 }, (_, i) => {
    use(7000 - 100 * i);
    return own.bytes();
  });
  assert.ok(Math.max(...sizes) <= 3 * 4 * 7000, `${sizes}`);
  pool.bound(4 * 7000);
  for (const elements of [6000, 5000, 7000]) {
    use(elements);
    assert.ok(own.bytes() <= 4 * 7000, `${own.bytes()} bytes after ${elements} elements`);
  }
  assert.ok(await own.hasRoom(3 * 2 ** 29), "more than the largest piece");
  own.close();
});

test("what iterations take is given back: memory does not grow", { skip: !gpu }, async () => {
  const model = await made(gpu!, { config: tinyConfig, heads: [] });
  const batch = rows(tinyConfig.vocabulary);
  const wanted = { entropy: false, topk: 0, at: 0, heads: [], hidden: [] };
  const sizes: number[] = [];
  for (let i = 0; i < 12; i++) {
    const { logp } = await model.forward(batch, wanted, true);
    await model.backward("main", { logp: logp as Float32Array });
    await model.step({ learningRate: 1e-3 });
    await sampled(model, [1, 2], 1);
    await sampled(model, [3, 4], 1, undefined, 1); // replies of one token, which get no place in the caches
    sizes.push(gpu!.bytes());
  }
  assert.equal(sizes.at(-1), sizes[2], sizes.join(" "));
  model.drop();
});
