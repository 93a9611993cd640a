import assert from "node:assert/strict";
import { test } from "node:test";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { codewords } from "../../src/env/codewords.ts";
import { selfCritique } from "../../src/evaluator/selfCritique.ts";
import { critiqueQuestion } from "../../src/evaluator/writtenCritique.ts";
import { method } from "../../src/method/method.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { retryWithFeedback } from "../../src/rollout/retryWithFeedback.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";

/** Answers with any word; asked how it went, begins a critique in the right form half of the time. */
const engine = tabularEngine({
  context: "message",
  prior: (context, word) => {
    const asked = context.includes("How");
    if (!asked) return /^w\d$/.test(word) ? 0 : -1e9;
    const begun = context.slice(context.indexOf("<assistant>") + 1);
    const wanted = begun.length === 0 ? ["outcome:", "turn:"] : begun.length === 1 ? ["failure"] : ["<end>"];
    return wanted.includes(word) ? 0 : -1e9;
  },
});

test("critiques that cannot be understood are counted, and their attempts are not tried again", async () => {
  const built = method({
    id: "self",
    family: "language-feedback",
    summary: "tries again with its own critiques",
    says: [critiqueQuestion],
    slots: ({ groupSize, temperature }) => ({
      rollout: retryWithFeedback(multiTurn({ groupSize, temperature }), {
        critiquer: selfCritique(),
        again: () => true,
        keep: "advised",
      }),
    }),
  }).build({ tasks: 8, groupSize: 8 });
  const environment = codewords({ questions: 8, length: 2 });
  const { counters } = await trainInMemory({ environment, method: built, engine, seed: 1, iterations: 1 });
  const failures = counters["judge.failures"] ?? 0;
  assert.equal(counters["judge.calls"], 64);
  // 32 expected, a standard deviation of 4
  assert.ok(failures > 16 && failures < 48, `${failures}`);
  assert.equal(counters["tokens.trained"], 2 * (64 + (64 - failures)));
});
