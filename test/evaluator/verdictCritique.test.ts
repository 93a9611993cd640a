import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluatorIn } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { verdictCritique, verdictIn, verdictQuestion } from "../../src/evaluator/verdictCritique.ts";
import { ctxWith, trajectoryOf, turnOf } from "../core/make.ts";

test("a verdict is one of two words; a critique with both, or neither, has none", () => {
  assert.equal(verdictIn("RIGHT"), true);
  assert.equal(verdictIn("It is WRONG: the sum is 4, so WRONG."), false);
  assert.equal(verdictIn("RIGHT or WRONG"), undefined);
  assert.equal(verdictIn("UPRIGHT, wrong"), undefined);
  assert.equal(verdictIn(""), undefined);
});

test("every text is a critique; its outcome is the verdict, and absent without one", async () => {
  const said = async (...words: string[]) => {
    const engine = tabularEngine({
      prior: (context, word) => {
        const begun = context.slice(context.lastIndexOf("<assistant>") + 1);
        return word === (words[begun.length] ?? "<end>") ? 0 : -1e9;
      },
    });
    const vocabulary = [`${verdictQuestion} RIGHT WRONG q a1`];
    const model = await engine.create({ id: "critic", seed: 1, vocabulary, contextTokens: 64 });
    const turn = turnOf([1], [2], {
      prompt: [{ role: "user", content: "q" }],
      action: { role: "assistant", content: "a1" },
    });
    const ctx = ctxWith({}, { model: () => model, count: () => undefined });
    const critique = evaluatorIn(ctx, verdictCritique()).critique(trajectoryOf("t", [turn]), randomStream(1));
    const { text, outcome, written } = (await critique)!;
    return [text, outcome, written?.turns[0]?.model];
  };
  assert.deepEqual(await said("RIGHT"), ["RIGHT", "success", "critic"]);
  assert.deepEqual(await said("WRONG", "a1"), ["WRONG a1", "failure", "critic"]);
  assert.deepEqual(await said("a1"), ["a1", undefined, "critic"]);
});
