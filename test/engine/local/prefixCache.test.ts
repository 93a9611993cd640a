// What prompts that begin alike share, and who is served meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pairRows } from "../../../src/common/tokens/pack.ts";
import { concatIds } from "../../../src/common/tokens/sequence.ts";
import type { Model, Sample, SampleRequest } from "../../../src/core/model.ts";
import { randomStream } from "../../../src/core/random.ts";
import { tokenActor } from "../../../src/train/actor.ts";
import { bench, codec, coefficientsFor, linear, near, randomBatch } from "./support.ts";

const text = (length: number, salt = 0): Int32Array =>
  Int32Array.from({ length }, (_, i) => 4 + ((i * 7 + (i >> 3) + salt) % (codec.vocabulary - 4)));

/** A reply of exactly so many tokens. */
const request = (prompt: Int32Array, more: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt,
  maxTokens: 8,
  seed: 1,
  allowed: Array.from({ length: more.maxTokens ?? 8 }, () => text(codec.vocabulary - 4).toSorted()),
  ...more,
});

const one = async (model: Model, prompt: Int32Array, more: Partial<SampleRequest> = {}): Promise<Sample> =>
  (await model.sample([request(prompt, more)]))[0]!;

async function agreesWithScore(model: Model, prompt: Int32Array, { logp, action }: Sample): Promise<void> {
  near(logp, (await model.score(pairRows([{ prompt, target: action }]))).logp, 1e-4, "logp");
}

const long = { contextTokens: 1024 };
/** Keys and values of a block of the tiny model: 32 tokens of 2 layers, 2 heads and 4 dimensions, each twice. */
const blockBytes = 32 * 2 * 2 * 4 * 2 * 4;

test("a turn that continues a conversation reads its new tokens only, and draws what a fresh model draws", async () => {
  await using serving = bench(1, 2 ** 20);
  await using plain = bench(1);
  const { model } = await serving.make(long);
  const { model: fresh } = await plain.make(long);
  let prompt = text(300);
  const known: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const more = { temperature: 0, maxTokens: 40 };
    const sample = await one(model, prompt, more);
    await agreesWithScore(model, prompt, sample);
    assert.deepEqual(sample.action, (await one(fresh, prompt, more)).action);
    known.push(sample.reused ?? 0);
    prompt = concatIds([prompt, sample.action, text(20, turn)]);
  }
  // whole blocks of 32 of the turn before, without its last token, which was never read: 339, 399, 459
  assert.deepEqual(known, [0, 320, 384, 448]);
  assert.equal((await one(fresh, prompt)).reused, undefined, "without the option nothing is kept");
});

test("prompts that arrive together read their common beginning once, and one that differs reads on alone", async () => {
  await using engine = bench(1, 2 ** 20);
  const { model } = await engine.make(long);
  const system = text(256);
  const prompts = [1, 2, 3, 4].map((user) => concatIds([system, text(20, user)]));
  const samples = await Promise.all([...prompts, prompts[0]!].map((prompt) => one(model, prompt)));
  const reused = samples.map((sample) => sample.reused ?? 0);
  assert.ok(reused.reduce((a, b) => a + b, 0) >= 4 * 256 - 3 * 128, `${reused}`);
  for (const [i, sample] of samples.entries()) await agreesWithScore(model, prompts[i % 4]!, sample);
  const other = system.with(200, system[200] === 4 ? 5 : 4);
  const sample = await one(model, other);
  assert.equal(sample.reused, 192, "up to the block that differs");
  await agreesWithScore(model, other, sample);
});

test("other weights know nothing of earlier prompts", async () => {
  await using engine = bench(1, 2 ** 20);
  const { model } = await engine.make(long);
  const prompt = text(100);
  await one(model, prompt);
  assert.equal((await one(model, prompt)).reused, 96);
  const twin = await model.fork("fresh");
  assert.equal((await one(twin, prompt)).reused, undefined);
  const batch = randomBatch([100], 1);
  await model.accumulate(batch, linear(coefficientsFor(batch, "1")), null);
  await model.step({ learningRate: 0.1 });
  const sample = await one(model, prompt);
  assert.equal(sample.reused, undefined);
  await agreesWithScore(model, prompt, sample);
});

test("the cache keeps to its bytes: the least recently used beginnings go first", async () => {
  await using engine = bench(1, 5 * blockBytes);
  const { model } = await engine.make(long);
  const [a, b, c] = [text(70, 1), text(70, 2), text(70, 3)];
  const reused = async (prompt: Int32Array) => (await one(model, prompt, { maxTokens: 1 })).reused ?? 0;
  assert.deepEqual([await reused(a), await reused(b)], [0, 0]);
  assert.equal(await reused(a), 64, "two blocks of each fit");
  assert.equal(await reused(c), 0);
  assert.deepEqual([await reused(a), await reused(b)], [64, 32]);
  assert.equal(await reused(text(1000)), 0, "a prompt larger than the cache is read");
});

test("a reply goes on, token by token, while a long prompt is read", async () => {
  await using engine = bench(1, 2 ** 22);
  const { model } = await engine.make(long);
  const told: number[] = [];
  let begun = (): void => {};
  const first = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const talking = model.sample([request(text(10), { maxTokens: 400 })], {
    onToken(_, token) {
      told.push(token);
      begun();
    },
  });
  await first;
  const before = told.length;
  await one(model, text(900, 5), { maxTokens: 1 });
  // 900 tokens take 7 passes of 128 and one of 32 with nothing known
  assert.ok(told.length - before >= 7, `${told.length - before} tokens`);
  assert.deepEqual(told, [...(await talking)[0]!.action]);
});

test("a call whose client has gone rejects at once, and the others are answered", async () => {
  await using engine = bench(1, 2 ** 20);
  const { model } = await engine.make(long);
  const gone = new AbortController();
  const told: number[] = [];
  const watch = {
    gone: gone.signal,
    onToken(request: number) {
      told.push(request);
      if (told.length === 6) gone.abort();
    },
  };
  const endless = [1, 2].map((seed) => request(text(10), { maxTokens: 900, seed }));
  const left = model.sample(endless, watch);
  const [stays] = await Promise.all([one(model, text(20)), assert.rejects(left, /cancelled/)]);
  assert.equal(stays.action.length, 8);
  assert.ok(told.length < 100, `${told.length} of 1,800 tokens`);
  await assert.rejects(model.sample(endless, { gone: AbortSignal.abort() }), { name: "AbortError" });
  await agreesWithScore(model, text(30), await one(model, text(30)));
});

test("a run that is stopped does not wait for the reply under way", async () => {
  await using engine = bench();
  const { model } = await engine.make();
  const stop = new AbortController();
  const actor = tokenActor("policy", model, model.contextTokens, stop.signal);
  const acted = actor.act({
    environment: { limits: { turns: 1, seconds: 60, actionTokens: 30 } },
    task: { id: "t", seed: 1, prompt: [], metadata: {} },
    messages: [],
    observation: { messages: [] },
    promptTokens: () => Int32Array.of(1, 2, 3),
    random: randomStream(1),
  });
  stop.abort(new Error("Ctrl-C"));
  await assert.rejects(acted, /Ctrl-C/);
  const [after] = await model.sample([{ prompt: Int32Array.of(1, 2, 3), maxTokens: 4, seed: 1 }]);
  assert.ok(after!.action.length > 0, "others are sampled as before");
});
