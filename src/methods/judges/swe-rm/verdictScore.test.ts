import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { evaluatorIn } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { verdictPrompt, verdictScore } from "./verdictScore.ts";

const attempt = trajectoryOf("t", [
  turnOf([1], [2], {
    prompt: [{ role: "user", content: "q" }],
    action: { role: "assistant", content: "a1" },
  }),
]);

async function scored(logits: Readonly<Record<string, number>>, contextTokens = 64, t = attempt) {
  const engine = tabularEngine({ prior: (_context, word) => logits[word] ?? 0 });
  const vocabulary = ["q a1", "Is the task resolved? YES NO"];
  const model = await engine.create({ id: "verifier", seed: 1, vocabulary, contextTokens });
  const ctx = ctxWith({}, { model: () => model });
  return evaluatorIn(ctx, verdictScore()).score(t, randomStream(1));
}

test("verdictScore: the probability of YES among YES and NO, whatever else may be said", async () => {
  // σ(2 − 1) = 0.7310586, also where other words are far more probable
  for (const other of [0, 10]) {
    const scores = await scored({ YES: 2, NO: 1, q: other });
    assert.ok(Math.abs(scores!.score! - 0.7310586) < 1e-6, `${scores!.score}`);
  }
});

test("verdictScore: it reads the whole conversation, then the question", () => {
  assert.deepEqual(
    verdictPrompt(attempt)!.map(({ role, content }) => `${role} ${content}`),
    ["user q", "assistant a1", "user Is the task resolved?"],
  );
});

test("verdictScore: no actions or no room is no score", async () => {
  assert.equal(await scored({}, 64, trajectoryOf("idle", [])), undefined);
  assert.equal(await scored({}, 8), undefined);
});
