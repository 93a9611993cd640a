import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith } from "../../../../test/core/make.ts";
import { counted } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { keyDoor } from "../../../worlds/keyDoor.ts";
import { oni } from "./method.ts";
import { modelAnnotator } from "./modelAnnotator.ts";

test("the annotator's score is the probability of YES among YES and NO; too long is no score", async () => {
  const engine = tabularEngine({ prior: (_context, word) => ({ YES: 1, NO: 0 })[word] ?? 5 });
  const vocabulary = ["Is this progress? YES NO", "key \n"];
  const score = async (contextTokens: number) => {
    const model = await engine.create({ id: "annotator", seed: 1, vocabulary, contextTokens });
    const ctx = ctxWith({}, { model: () => model, count: () => undefined });
    return (await counted(modelAnnotator(), ctx).score(["key"], { random: randomStream(1) }))?.[0]?.score;
  };
  // σ(1)
  assert.ok(Math.abs((await score(32))! - 0.7310586) < 1e-6);
  assert.equal(await score(4), undefined);
});

test("in a run captions are labelled once each, and the annotator stays as it began", async () => {
  const method = oni.build({ tasks: 4, groupSize: 4 });
  const { counters } = await trainInMemory({
    environment: keyDoor(),
    method,
    engine: tabularEngine({ context: "message" }),
    seed: 1,
    iterations: 4,
  });
  // four cells, with and without key
  const calls = counters["judge.calls"] ?? 0;
  assert.ok(calls >= 4 && calls <= 8, `${calls}`);
  assert.equal(counters["judge.failures"] ?? 0, 0);
});
