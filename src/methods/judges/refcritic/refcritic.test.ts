import assert from "node:assert/strict";
import { test } from "node:test";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { answers } from "../../../worlds/answers.ts";
import { refcritic } from "./method.ts";
import { judging, refining } from "./refinementFeedback.ts";

test("refinements count only where a wrong attempt is called wrong", () => {
  const seen = (verdict: boolean | undefined, right: boolean, refined: number) => ({
    verdict,
    right,
    refined,
  });
  const cases = [
    seen(true, true, 1),
    seen(false, false, 0.75),
    seen(false, true, 1),
    seen(true, false, 0),
    seen(undefined, false, 0),
  ];
  assert.deepEqual(cases.map(judging), [1, 1, 0, 0, 0]);
  assert.deepEqual(cases.map(refining(2)), [1, 2.5, 0, 0, 0]);
});

test("the actor stays as it is, and refinements begin with the second stage", async () => {
  const { curve, counters, policy } = await trainInMemory({
    environment: answers({ questions: 8, vocabulary: 3, right: 1 }),
    method: refcritic.build({ tasks: 8, learningRate: 0.1 }, { stage: 2, refinements: 2 }),
    engine: tabularEngine({ prior: (_context, word) => (word === "WRONG" ? 3 : 0) }),
    seed: 1,
    iterations: 3,
  });
  assert.deepEqual(
    curve.map((stats) => "refined" in stats),
    [false, false, true],
  );
  assert.ok((counters["tokens.trained"] ?? 0) > 0);
  assert.equal(policy.version, "0");
});
