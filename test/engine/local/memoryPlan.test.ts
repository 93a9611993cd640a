// What training takes of a GPU, worked out beforehand: of large shapes on paper, and of a small one beside what it took.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { randomStream } from "../../../src/core/random.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import {
  memoryPlan,
  type PlannedGpu,
  requireDeviceMemory,
} from "../../../src/engine/local/gpu/memoryPlan.ts";
import { gpuDevice } from "../../../src/engine/local/gpu/model.ts";
import { trainedUnits, unitsOf } from "../../../src/engine/local/gpu/units.ts";
import { gridOf, largestShapes, packRows, placesFor } from "../../../src/engine/local/packing.ts";
import { type Architecture, firstWeights, headParameters } from "../../../src/engine/local/parameters.ts";
import { sampler } from "../../../src/engine/local/sampler.ts";
import { livelyWeights, tinyConfig } from "./support.ts";

const GiB = 2 ** 30;

/** A device of which only its limits are known. */
const fakeGpu = (room: number, largest = 4 * GiB): PlannedGpu => ({
  adapter: { name: "a card", vendor: "none", software: false, features: [], largest },
  bindings: 10,
  sharedBytes: 49152,
  cores: false,
  hasRoom: async (bytes) => bytes <= room,
});

/** SmolLM2-135M's shape. */
const smol: DecoderConfig = {
  ...tinyConfig,
  vocabulary: 49152,
  width: 576,
  layers: 30,
  heads: 9,
  kvHeads: 3,
  headWidth: 64,
  feedForward: 1536,
  contextTokens: 8192,
};

const kindOf = (a: Architecture) => ({ a, units: unitsOf(a), trained: trainedUnits(a) });
const whole = kindOf({ config: smol, heads: [] });
const adapted = kindOf({
  config: smol,
  heads: [],
  adapter: { rank: 16, alpha: 32, targets: ["q_proj", "v_proj"] },
});
const settings = { precision: "f32", memory: 4 * GiB } as const;
const use = (a: Architecture, tokens: number, memory = settings.memory) => ({
  places: placesFor(a, memory, "gpu"),
  tokens,
  rows: 64,
});

test("weights, gradients and moments are counted exactly, and an adapter has few of the latter", async () => {
  const gpu = fakeGpu(100 * GiB);
  const all = await memoryPlan(whole, use(whole.a, 512), gpu, settings);
  assert.equal(all.weights, 4 * 134_515_008);
  assert.equal(all.moments, 2 * all.gradients);
  assert.equal(all.gradients, all.weights);
  const few = await memoryPlan(adapted, use(adapted.a, 512), gpu, settings);
  assert.equal(few.gradients, 4 * 30 * 16 * (576 + 576 + 576 + 192));
  const { weights, gradients, moments, activations, caches } = all;
  assert.equal(all.whole, weights + gradients + moments + activations + caches);
  // a critic has weights of its own; copies of an adapter's model have their own adapter alone
  const beside = { created: 1, copied: 2, frozen: 3, apart: false };
  const more = await memoryPlan(whole, { ...use(whole.a, 512), beside }, gpu, settings);
  assert.equal(more.beside, (4 + 2 * 4 + 3) * weights);
  assert.equal(more.whole, all.whole + more.beside);
  const adapters = await memoryPlan(adapted, { ...use(adapted.a, 512), beside }, gpu, settings);
  assert.equal(adapters.beside, few.weights + (3 + 2 * 4 + 3) * few.gradients);
  // a resumed run reads each with its base
  const read = { created: 3, copied: 0, frozen: 3, apart: true };
  const resumed = await memoryPlan(adapted, { ...use(adapted.a, 512), beside: read }, gpu, settings);
  assert.equal(resumed.beside, 6 * few.weights + 9 * few.gradients);
  assert.ok(activations > 2 * GiB && activations < 6 * GiB, `${activations}`);
});

test("a long row takes no square of its length, and is computed twice where it would not fit", async () => {
  const gpu = fakeGpu(100 * GiB);
  const at = async (tokens: number, memory: number) =>
    (await memoryPlan(whole, use(whole.a, tokens, memory), gpu, { ...settings, memory })).activations;
  const [four, eight] = [await at(4096, 64 * GiB), await at(8192, 64 * GiB)];
  assert.ok(eight < 2.2 * four, `${four} and ${eight}`);
  const little = await at(8192, GiB);
  assert.ok(little < eight / 2, "the inside of layers is not kept");
  assert.ok(little < 2 * GiB, `${little}`); // docs/gpu.md
  assert.ok(eight > 15 * GiB, `${eight}`);
});

test("what does not fit is refused before the run, with what would fit", async () => {
  const refusal = async (room: number, kind = whole, largest = 4 * GiB, inUse = 0) => {
    try {
      await requireDeviceMemory(kind, use(kind.a, 512), inUse, fakeGpu(room, largest), settings);
    } catch (e) {
      assert.ok(isWhetstoneError(e) && e.code === "device.full", String(e));
      return e.message;
    }
    return "";
  };
  assert.equal(await refusal(30 * GiB), "");
  assert.match(
    await refusal(6 * GiB),
    /training that takes up to \d+\.\d GiB \(weights 0\.5 GiB, .*With --memory \d+ it takes \d\.\d GiB, which fits/,
  );
  assert.match(await refusal(GiB), /train an adapter \(--lora 16\)/);
  assert.doesNotMatch(await refusal(GiB / 4, adapted), /--lora/);
  assert.match(
    await refusal(30 * GiB, whole, GiB / 16),
    /an array of 0\.4 GiB, expected arrays of at most 0\.1 GiB/,
  );
  assert.equal(
    await refusal(7.5 * GiB, whole, 4 * GiB, 1.5 * GiB),
    "",
    "a resumed run's moments are there already",
  );
});

test("the largest micro-batch is that whose number of sequences is rounded up most", () => {
  const positions = (places: number): number =>
    Math.max(...largestShapes(smol, { places, tokens: 512 }).map(({ B, T }) => B * T));
  for (const [places, tokens] of [
    [2398, 250],
    [8192, 190],
    [4700, 250],
  ] as const) {
    const grid = gridOf("gpu");
    const sequences = Math.floor(places / grid.length(tokens));
    const rows = {
      tokens_N: new Int32Array(sequences * tokens),
      rowOffset: Int32Array.from({ length: sequences + 1 }, (_, r) => r * tokens),
      target_A: Int32Array.from({ length: sequences }, (_, r) => r * tokens + 1),
      targetOffset: Int32Array.from({ length: sequences + 1 }, (_, r) => r),
    };
    const shared = Array.from({ length: sequences }, () => [0]);
    const { B, T } = packRows(rows, { shared, longest: tokens }, 0, grid);
    const packed = B * T;
    assert.ok(positions(places) >= packed, `${places}: ${positions(places)} planned, ${packed} packed`);
  }
});

const gpu = await gpuDevice({ precision: "f32", checked: true, memory: 2 ** 22 }).catch((e: Error) => {
  console.log(`no adapter: ${e.message.split("\n")[0]}`);
  return undefined;
});
after(() => gpu?.close());

test("the plan is within a tenth of what sampling and training took, a critic and frozen weights beside", {
  skip: !gpu,
}, async () => {
  const config = { ...tinyConfig, vocabulary: 400, width: 32, contextTokens: 64 };
  const a: Architecture = { config, heads: [] };
  const critics: Architecture = { config, heads: ["value"] };
  const weights = livelyWeights(config);
  const heads = firstWeights(headParameters(config, critics.heads), randomStream("heads"));
  const before = gpu!.bytes();
  const model = await gpu!.create(a, { weights, steps: 0, version: 0 });
  const [B, T, rows] = [8, 64, 16];
  const beside = { created: 1, copied: 0, frozen: 1, apart: false };
  const planned = await model.memory!({ places: B * T, tokens: T, rows, beside });
  const critic = await gpu!.create(critics, {
    weights: new Map([...weights, ...heads]),
    steps: 0,
    version: 0,
  });
  const frozen = await model.copy("fresh");

  const codec = { padId: 0, endId: 1, decode: () => "" };
  const models = model.readings({ codec, other: () => model });
  const sampling = sampler({ config: a.config, codec, models, version: "0" });
  const prompt = (seed: number) => Int32Array.from({ length: T - 2 }, (_, t) => 2 + ((seed + t) % 20));
  const done = sampling.sample(
    Array.from({ length: rows }, (_, seed) => ({ prompt: prompt(seed), maxTokens: 2, seed })),
  );
  while (sampling.busy) await sampling.step();
  await done;
  sampling.close();

  const A = B * T;
  const each = <X>(of: (i: number) => X): X[] => Array.from({ length: A }, (_, i) => of(i));
  const batch = {
    ...{ B, T, A },
    tokens: Int32Array.from(each((i) => 2 + (i % 20))),
    position: Int32Array.from(each((i) => i % T)),
    end: Int32Array.from(each(() => T - 1)),
    context: Int32Array.from(each((i) => i)),
    back: Int32Array.from(each((i) => i)),
    targets: Int32Array.from(each((i) => 2 + ((i + 1) % 20))),
  };
  const wanted = { entropy: true, topk: 0, at: 0, heads: [], hidden: [] };
  const each1 = new Float32Array(A).fill(1);
  for (let i = 0; i < 2; i++) {
    await frozen.forward(batch, { ...wanted, entropy: false }, false);
    await model.forward(batch, wanted, true);
    await model.backward("main", { logp: each1, entropy: each1.map(() => 0.1) });
    await critic.forward(batch, { ...wanted, entropy: false, heads: critics.heads }, true);
    await critic.backward("main", { "head.value": each1 });
    for (const one of [model, critic]) await one.step({ learningRate: 1e-3 });
  }
  const took = gpu!.bytes() - before;
  assert.ok(Math.abs(took / planned.whole - 1) < 0.1, `took ${took}, planned ${JSON.stringify(planned)}`);
  for (const one of [model, critic, frozen]) one.drop();
});
