// Sampling from a mixture of two models: the distribution is that of the tabular engine, the softmax of mixed logits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pairRows } from "../../../src/common/tokens/pack.ts";
import { concatIds } from "../../../src/common/tokens/sequence.ts";
import type { Frozen, Model, SampleRequest } from "../../../src/core/model.ts";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { bench, bitsOf, codec, failsWith, livelyWeights, near, tinyConfig } from "./support.ts";

const prompt = Int32Array.of(4, 9, 5);
const seeds = (n: number): number[] => Array.from({ length: n }, (_, seed) => seed);
const everyId = Int32Array.from({ length: codec.vocabulary }, (_, id) => id);

/** ln p of every token after a prefix. */
async function nextLogp(model: Model | Frozen, prefix: Int32Array): Promise<Float64Array> {
  const rows = pairRows([...everyId].map((id) => ({ prompt: prefix, target: Int32Array.of(id) })));
  return Float64Array.from((await model.score(rows)).logp);
}

/** ln of the geometric mixture of two distributions, renormalised. */
function mixed(own: Float64Array, other: Float64Array, share: number): Float64Array {
  const logits = own.map((x, v) => (1 - share) * x + share * other[v]!);
  const total = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0));
  return logits.map((x) => x - total);
}

/** Two models with different weights on one engine; the second is frozen. */
async function pair(engine: ReturnType<typeof bench>) {
  const { model } = await engine.make();
  const of = await (await engine.make({}, { weights: livelyWeights(tinyConfig, 2) })).model.freeze();
  return { model, of };
}

test("a mixture's log-probabilities are those of mixed logits, token by token over a reply", async () => {
  await using engine = bench();
  const { model, of } = await pair(engine);
  const requests = seeds(6).map((seed) => ({ prompt, maxTokens: 6, seed, mix: { of, share: 0.3 } }));
  for (const { action, logp, behaviour } of await model.sample(requests)) {
    const expected = { logp: new Float64Array(action.length), behaviour: new Float64Array(action.length) };
    for (let a = 0; a < action.length; a++) {
      const prefix = concatIds([prompt, action.subarray(0, a)]);
      const own = await nextLogp(model, prefix);
      expected.logp[a] = own[action[a]!]!;
      expected.behaviour[a] = mixed(own, await nextLogp(of, prefix), 0.3)[action[a]!]!;
    }
    near(logp, Float32Array.from(expected.logp), 1e-4, "logp");
    near(behaviour, Float32Array.from(expected.behaviour), 1e-4, "behaviour");
  }
});

test("a mixture is drawn as the tabular engine draws it", async () => {
  await using engine = bench();
  const { model, of } = await pair(engine);
  const share = 0.5;
  const [own, other] = [await nextLogp(model, prompt), await nextLogp(of, prompt)];
  // tables with the same two distributions over the tokens that both engines can write
  const words = [...everyId].map((id) => codec.decode(Int32Array.of(id))).filter((word) => word !== "");
  const idOf = (word: string): number => codec.encode(word)[0]!;
  const table = (logp: Float64Array) =>
    tabularEngine({ prior: (_, word) => (words.includes(word) ? logp[idOf(word)]! : -1e9) }).create({
      id: "policy",
      seed: 1,
      vocabulary: words,
      contextTokens: 8,
    });
  const tabular = await table(own);
  const tabularOf = await (await table(other)).freeze();
  const writable = Int32Array.from(words, idOf).sort();
  const requests = (n: number) => seeds(n).map((seed) => ({ prompt, maxTokens: 1, seed }));

  const n = 4000;
  const local = await model.sample(
    requests(n).map((request) => ({ ...request, allowed: [writable], mix: { of, share } })),
  );
  const drawn = await tabular.sample(
    requests(n).map((request) => ({
      ...request,
      prompt: Int32Array.of(3),
      allowed: [Int32Array.from(words, (word) => tabular.codec.encode(word)[0]!).sort()],
      mix: { of: tabularOf, share },
    })),
  );
  const said = new Map<string, number>();
  for (const { action, behaviour } of drawn) said.set(tabular.codec.decode(action), behaviour[0]!);
  assert.ok(said.size > 8, `${said.size} words drawn`);
  const seen = new Map<string, number>();
  for (const { action, behaviour } of local) {
    const word = codec.decode(action);
    seen.set(word, (seen.get(word) ?? 0) + 1 / n);
    const expected = said.get(word);
    if (expected !== undefined) near(behaviour, Float32Array.of(expected), 1e-4, word);
  }
  // five deviations of a share: 5 √(p (1 − p) / n)
  for (const [word, logp] of said) {
    const p = Math.exp(logp);
    const gap = Math.abs((seen.get(word) ?? 0) - p);
    assert.ok(gap < 5 * Math.sqrt((p * (1 - p)) / n) + 1e-4, `${word}: ${seen.get(word)} of ${p}`);
  }
});

test("restrictions apply to the mixture: a temperature of 0 takes its most probable token", async () => {
  await using engine = bench();
  const { model, of } = await pair(engine);
  const [own, other] = [await nextLogp(model, prompt), await nextLogp(of, prompt)];
  for (const share of [0, 0.5, 1]) {
    const logp = mixed(own, other, share);
    const best = logp.indexOf(Math.max(...logp));
    const request = { prompt, maxTokens: 1, seed: 1, mix: { of, share } };
    const [greedy] = await model.sample([{ ...request, temperature: 0 }]);
    assert.equal(greedy!.action[0], best, `share ${share}`);
    near(greedy!.logp, Float32Array.of(own[best]!), 1e-4, "the model's own log-probability");
    const allowed = [Int32Array.of(8, 9, 10)];
    const [narrow] = await model.sample([{ ...request, allowed }]);
    const total = Math.log([8, 9, 10].reduce((sum, id) => sum + Math.exp(logp[id]!), 0));
    near(narrow!.behaviour, Float32Array.of(logp[narrow!.action[0]!]! - total), 1e-4, "behaviour");
  }
});

test("mixed and other requests run side by side, and neither changes the other's bits", async () => {
  await using engine = bench();
  const { model, of } = await pair(engine);
  const request = (seed: number, more: Partial<SampleRequest> = {}): SampleRequest => ({
    prompt: Int32Array.from({ length: 3 + (seed % 5) }, (_, i) => 4 + ((i * 7 + seed) % 20)),
    maxTokens: 4 + (seed % 9),
    seed,
    ...more,
  });
  const mix = { of, share: 0.5 };
  const plain = seeds(12).map((seed) => request(seed));
  const mixtures = seeds(12).map((seed) => request(seed, { mix }));
  const apart = [await model.sample(plain), await model.sample(mixtures)];
  const together = await Promise.all([model.sample(plain), model.sample(mixtures)]);
  for (const side of [0, 1]) assert.deepEqual(together[side]!.map(bitsOf), apart[side]!.map(bitsOf));
  // one call with both, and the mixtures first
  const both = await model.sample([...mixtures, ...plain]);
  assert.deepEqual(both.map(bitsOf), [...apart[1]!, ...apart[0]!].map(bitsOf));
});

test("a frozen model changes only after the sampling that mixes it in", async () => {
  await using engine = bench();
  const { model, of } = await pair(engine);
  const requests = seeds(8).map((seed) => ({ prompt, maxTokens: 12, seed, mix: { of, share: 0.8 } }));
  const before = await model.sample(requests);
  const during = model.sample(requests);
  const blended = of.blend(model, 1);
  assert.deepEqual((await during).map(bitsOf), before.map(bitsOf));
  await blended;
  const after = await model.sample(requests);
  assert.notDeepEqual(after.map(bitsOf), before.map(bitsOf));
  for (const { logp, behaviour } of after) near(behaviour, logp, 1e-4, "a mixture with itself");
});

test("a mixture with a model of another engine or shape is refused, and so is a share beyond 1", async () => {
  await using engine = bench();
  await using elsewhere = bench();
  const { model, of } = await pair(engine);
  const strange = await (await elsewhere.make()).model.freeze();
  const small = await (await engine.make({ layers: 1 })).model.freeze();
  const request = { prompt, maxTokens: 1, seed: 1 };
  const drawn = (from: Frozen, share: number) => model.sample([{ ...request, mix: { of: from, share } }]);
  await assert.rejects(drawn(strange, 0.5), failsWith("capability.missing", /another engine/));
  await assert.rejects(drawn(small, 0.5), failsWith("capability.missing", /different architectures/));
  await assert.rejects(drawn(of, 1.5), failsWith("option.range", /share of 1.5/));
  assert.equal((await drawn(of, 0.5)).length, 1, "the engine goes on");
});
