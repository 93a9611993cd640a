import assert from "node:assert/strict";
import { test } from "node:test";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";

const make = (logits: Readonly<Record<string, number>>) =>
  tabularEngine({ prior: (_, word) => logits[word] ?? -1e9 }).create({
    id: "policy",
    seed: 1,
    vocabulary: ["a b c"],
    contextTokens: 8,
  });
const request = { prompt: Int32Array.of(3), maxTokens: 1 };

test("a mixture draws from the softmax of mixed logits, and says so", async () => {
  const own = await make({ a: 2, b: 0, c: 1 });
  const of = await (await make({ a: -2, b: 3, c: 1 })).freeze();
  // a quarter of the other: 2 − 1, 0.75, 1; over their sum of exponentials
  const sum = Math.exp(1) + Math.exp(0.75) + Math.exp(1);
  const mixture = { a: Math.exp(1) / sum, b: Math.exp(0.75) / sum, c: Math.exp(1) / sum };
  const total = Math.exp(2) + 1 + Math.exp(1);
  const alone = { a: Math.exp(2) / total, b: 1 / total, c: Math.exp(1) / total };
  const seen = { a: 0, b: 0, c: 0 };
  const requests = Array.from({ length: 4000 }, (_, seed) => ({
    ...request,
    seed,
    mix: { of, share: 0.25 },
  }));
  for (const { action, logp, behaviour } of await own.sample(requests)) {
    const word = own.codec.decode(action);
    assert.ok(word === "a" || word === "b" || word === "c");
    assert.ok(Math.abs(Math.exp(behaviour[0]!) - mixture[word]) < 1e-6);
    assert.ok(Math.abs(Math.exp(logp[0]!) - alone[word]) < 1e-6);
    seen[word]++;
  }
  // five deviations of a share around a third: 5 √(2/9 / 4000)
  for (const word of ["a", "b", "c"] as const) assert.ok(Math.abs(seen[word] / 4000 - mixture[word]) < 0.038);
});

test("a share of 0 changes nothing, one of 1 is the other model, more is refused", async () => {
  const own = await make({ a: 2, b: 0, c: 1 });
  const of = await (await make({ a: -2, b: 3, c: 1 })).freeze();
  const seeds = Array.from({ length: 50 }, (_, seed) => seed);
  const drawn = async (from: Pick<typeof own, "sample">, mix?: { of: typeof of; share: number }) =>
    (await from.sample(seeds.map((seed) => ({ ...request, seed, ...(mix ? { mix } : {}) })))).map((s) => [
      s.action[0],
      s.behaviour[0],
    ]);
  assert.deepEqual(await drawn(own, { of, share: 0 }), await drawn(own));
  assert.deepEqual(await drawn(own, { of, share: 1 }), await drawn(of));
  await assert.rejects(drawn(own, { of, share: 1.5 }), /share of 1.5/);
});
