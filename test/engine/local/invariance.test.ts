// A sample depends on its prompt, its options and its seed alone, bit for bit.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Model, SampleRequest } from "../../../src/core/model.ts";
import { randomStream, shuffled } from "../../../src/core/random.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";
import { adapterParameters, firstWeights } from "../../../src/engine/local/parameters.ts";
import {
  bench,
  bitsOf,
  codec,
  coefficientsFor,
  linear,
  livelyWeights,
  randomBatch,
  tinyConfig,
} from "./support.ts";

const contextTokens = 160;

/** Requests of many lengths: some share a prompt, some a cache size, few end at the same time. */
function requestsFor(count: number): SampleRequest[] {
  const random = randomStream("requests");
  const prompt = (key: number, length: number): Int32Array =>
    Int32Array.from({ length }, () => random.split(key).below(codec.vocabulary));
  return Array.from({ length: count }, (_, i) => {
    const long = i % 4 === 3;
    return {
      prompt: i % 3 === 0 ? prompt(0, 9) : prompt(i, long ? 34 + i : 2 + i),
      maxTokens: 2 + ((i * 5) % 9),
      seed: i,
      ...(i % 5 === 4 ? { topP: 0.8, temperature: 0.7 } : {}),
    };
  });
}

const bits = async (model: Model, requests: readonly SampleRequest[]): Promise<string[]> =>
  (await model.sample(requests)).map(bitsOf);

async function inParts(model: Model, requests: readonly SampleRequest[], size: number): Promise<string[]> {
  const out: string[] = [];
  for (let i = 0; i < requests.length; i += size) {
    out.push(...(await bits(model, requests.slice(i, i + size))));
  }
  return out;
}

const shapes: readonly (Partial<DecoderConfig> & { readonly width: number; readonly heads: number })[] = [
  { width: 96, heads: 2, kvHeads: 1 },
  { width: 96, heads: 4, kvHeads: 4 },
  { width: 128, heads: 2, kvHeads: 2, layers: 2 },
  { width: 128, heads: 4, kvHeads: 1 },
  { width: 192, heads: 4, kvHeads: 2 },
  { width: 192, heads: 1, kvHeads: 1 },
  { width: 18, heads: 3, kvHeads: 1 },
];

for (const shape of shapes) {
  const { width, heads, kvHeads } = shape;
  test(`sample does not depend on company: width ${width}, ${heads} heads, ${kvHeads} with keys`, async () => {
    await using engine = bench();
    const { model } = await engine.make({
      layers: 1,
      headWidth: width / heads,
      feedForward: 2 * width,
      contextTokens,
      ...shape,
    });
    const requests = requestsFor(13);
    const together = await bits(model, requests);
    assert.ok(new Set(together).size > 10, "samples differ from each other");
    assert.deepEqual(await inParts(model, requests, 1), together, "one at a time");
    for (const size of [3, 5])
      assert.deepEqual(await inParts(model, requests, size), together, `${size} at a time`);
    const order = shuffled(
      requests.map((_, i) => i),
      randomStream("order"),
    );
    const mixed = await bits(
      model,
      order.map((i) => requests[i]!),
    );
    assert.deepEqual(
      mixed,
      order.map((i) => together[i]),
      "shuffled",
    );
    const concurrent = await Promise.all(requests.map((request) => bits(model, [request])));
    assert.deepEqual(concurrent.flat(), together, "from many calls at once");
  });
}

/** Shapes whose products ONNX Runtime cuts differently for some numbers of rows. */
const hard: readonly (readonly [threads: number, size: Partial<DecoderConfig>])[] = [
  [2, { width: 128, heads: 2, kvHeads: 2, headWidth: 64, feedForward: 256 }],
  [2, { width: 96, heads: 4, kvHeads: 1, headWidth: 24, feedForward: 192 }],
  [8, { width: 160, heads: 2, kvHeads: 1, headWidth: 80, feedForward: 320 }],
];
for (const [threads, size] of hard) {
  const { width, feedForward } = size;
  test(`sample does not depend on a crowd: ${width} × ${feedForward}, ${threads} threads`, async () => {
    await using engine = bench(threads);
    const { model } = await engine.make({ layers: 1, ...size });
    const requests = Array.from({ length: 140 }, (_, i) => ({
      prompt: Int32Array.of(4, 7 + (i % 24), 7 + (i % 23), 5),
      maxTokens: 1 + (i % 3),
      seed: i,
    }));
    const together = await bits(model, requests);
    for (const count of [1, 40]) {
      const some = requests.map((_, i) => i).filter((i) => i % Math.ceil(140 / count) === 2);
      assert.deepEqual(
        await bits(
          model,
          some.map((i) => requests[i]!),
        ),
        some.map((i) => together[i]),
      );
    }
  });
}

for (const [rank, threads, feedForward] of [
  [1, 2, 24],
  [8, 8, 8960],
  [16, 12, 8960],
] as const) {
  test(`sample of an adapter of rank ${rank} does not depend on company: ${threads} threads`, async () => {
    await using engine = bench(threads);
    const size = { layers: 1, width: 64, heads: 4, kvHeads: 2, headWidth: 16, feedForward };
    const config = { ...tinyConfig, ...size };
    const adapter = { rank, alpha: 2 * rank, targets: ["q_proj", "v_proj", "down_proj"] } as const;
    const drawn = firstWeights(adapterParameters(config, adapter), randomStream("adapter"));
    const weights = new Map([
      ...livelyWeights(config),
      // a new adapter has no effect
      ...[...drawn].map(([name, w]) => [name, w.map((_, i) => Math.sin(i + w.length) / 8)] as const),
    ]);
    const { model } = await engine.make(size, { adapter, weights });
    const requests = Array.from({ length: 16 }, (_, i) => ({
      prompt: Int32Array.of(4, 7 + i, 8 + i, 5),
      maxTokens: 6,
      seed: i,
    }));
    const together = await bits(model, requests);
    for (const size of [1, 3]) assert.deepEqual(await inParts(model, requests, size), together, `${size}`);
  });
}

test("sample does not depend on who joins and leaves, nor on a cache that grows and shrinks", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 2, contextTokens: 400 });
  const request = (i: number, maxTokens: number, length = 3): SampleRequest => ({
    prompt: Int32Array.from({ length }, (_, t) => 7 + ((i * 5 + t * 3) % 24)),
    maxTokens,
    seed: i,
    // no end before the limit, so that rows live as long as they are meant to
    allowed: Array.from({ length: maxTokens }, () => Int32Array.from({ length: 24 }, (_, id) => 7 + id)),
  });
  const long = [request(0, 150), request(1, 90, 70), request(2, 60, 40)];
  const short = Array.from({ length: 40 }, (_, i) => request(10 + i, 1 + (i % 5), 2 + ((i * 17) % 90)));
  const alone: string[] = [];
  for (const one of [...long, ...short]) alone.push(...(await bits(model, [one])));

  // each short one that ends is followed by the next, while the long ones go on
  const queue = short.map((one, i) => ({ one, i }));
  const got: string[] = [];
  const lane = async (): Promise<void> => {
    for (let next = queue.pop(); next; next = queue.pop()) got[next.i] = (await bits(model, [next.one]))[0]!;
  };
  const [longBits] = await Promise.all([
    Promise.all(long.map(async (one) => (await bits(model, [one]))[0]!)),
    ...Array.from({ length: 19 }, lane),
  ]);
  assert.deepEqual(longBits, alone.slice(0, 3), "long ones");
  assert.deepEqual(got, alone.slice(3), "short ones");
});

test("a step waits for the samples asked for before it, and samples asked for after it wait for the step", async () => {
  await using engine = bench();
  const [sequential, mixed] = [(await engine.make()).model, (await engine.make()).model];
  const requests = requestsFor(12).map((r) => ({ ...r, prompt: r.prompt.subarray(0, 20) }));
  const [first, second] = [requests.slice(0, 6), requests.slice(6)];
  const learn = async (model: Model): Promise<void> => {
    const batch = randomBatch([9, 12], "batch");
    await model.accumulate(batch, linear(coefficientsFor(batch, "coefficients")), null);
  };
  await learn(sequential);
  const rule = { learningRate: 0.05 };
  const want = [await bits(sequential, first)];
  await sequential.step(rule);
  want.push(await bits(sequential, second));

  await learn(mixed);
  const before = bits(mixed, first);
  const stepped = mixed.step(rule);
  // the step is a message of its own turn; what is sampled now comes after it
  await new Promise((resolve) => setTimeout(resolve, 0));
  const after = bits(mixed, second);
  assert.deepEqual(await Promise.all([before, after]), want);
  await stepped;
});
