import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chat } from "../../../core/chat.ts";
import { randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codewords } from "../../../env/codewords.ts";
import { chatCritiquer } from "../../../evaluator/chat.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { spanRewards } from "./method.ts";

/** Answers with any word. */
const engine = tabularEngine({
  context: "message",
  prior: (_, word) => (/^w\d$/.test(word) ? 0 : -1e9),
});

/** Asked how it went, answers in the right form half of the time. */
const chat: Chat = {
  id: "half",
  reply: () => assert.fail("only data is asked for"),
  ask: async ({ seed }, form) =>
    randomStream(seed!).next() < 0.5 ? form.parse({ outcome: "failure", advice: "another" }) : undefined,
  spent: () => ({ calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
};

test("critiques that cannot be understood are counted, and their attempts neither scored 0 nor learnt from", async () => {
  const built = method({
    id: "criticised",
    family: "language-feedback",
    summary: "rewards what a critiquer marks",
    slots: spanRewards(chatCritiquer(chat)),
  }).build({ tasks: 8, groupSize: 8 });
  const environment = codewords({ questions: 8, length: 2 });
  const { counters } = await trainInMemory({ environment, method: built, engine, seed: 1, iterations: 1 });
  const failures = counters["judge.failures"] ?? 0;
  assert.equal(counters["judge.calls"], 64);
  // 32 expected, a standard deviation of 4
  assert.ok(failures > 16 && failures < 48, `${failures}`);
  assert.equal(counters["tokens.trained"], 2 * (64 - failures));
});
