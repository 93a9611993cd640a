import assert from "node:assert/strict";
import { test } from "node:test";
import type { Counter } from "../../src/core/counter.ts";
import { evaluatorIn } from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { type SelfCritiqueOptions, selfCritique } from "../../src/evaluator/selfCritique.ts";
import { ctxWith, trajectoryOf, turnOf } from "../core/make.ts";

/** Writes these words after "how", whatever else came before. */
async function writer(reply: readonly string[], contextTokens = 64) {
  const engine = tabularEngine({
    context: "message",
    prior: (context, word) => (word === (reply[context.length - 4] ?? "<end>") ? 50 : 0),
  });
  const vocabulary = ["q how", "outcome : success failure", "turn 1", "a1"];
  return engine.create({ id: "policy", seed: 1, vocabulary, contextTokens });
}
const attempt = trajectoryOf("t", [
  turnOf([1], [2], {
    prompt: [{ role: "user", content: "q" }],
    action: { role: "assistant", content: "a1" },
  }),
]);

async function criticised(
  reply: readonly string[],
  options: SelfCritiqueOptions = {},
  t = attempt,
  contextTokens = 64,
) {
  const model = await writer(reply, contextTokens);
  const counted: Partial<Record<Counter, number>> = {};
  const count = (name: Counter, n: number): void => {
    counted[name] = (counted[name] ?? 0) + n;
  };
  const ctx = ctxWith({}, { model: () => model, count });
  const { critique: ask } = evaluatorIn(ctx, selfCritique({ question: "how", ...options }));
  const critique = await ask(t, randomStream(1));
  return { critique, counted, model };
}

test("selfCritique: the policy reads its attempt and a question; its exact tokens are kept", async () => {
  const { critique, counted, model } = await criticised(["outcome", ":", "failure"]);
  const { written, ...said } = critique!;
  assert.deepEqual(said, { text: "outcome : failure", outcome: "failure" });
  const [turn] = written!.turns;
  assert.deepEqual(
    turn!.prompt.map(({ content }) => content),
    ["q", "a1", "how"],
  );
  const wanted = [...model.codec.encode("outcome : failure"), model.codec.endId];
  assert.deepEqual([...turn!.tokens!.action], wanted);
  assert.deepEqual([written!.role, written!.task, written!.id], ["critiquer", "task", "t/critique"]);
  assert.deepEqual(counted, { "judge.calls": 1, generations: 1, "tokens.sampled": 4 });
});

test("selfCritique: what cannot be read, or was cut off, is dropped and counted, never scored", async () => {
  const failed = { "judge.calls": 1, "judge.failures": 1, generations: 1 };
  const wrong = await criticised(["turn", ":", "1"]);
  assert.equal(wrong.critique, undefined);
  assert.deepEqual(wrong.counted, { ...failed, "tokens.sampled": 4, "tokens.discarded": 4 });
  const cut = await criticised(["outcome", ":", "success"], { maxTokens: 3 });
  assert.equal(cut.critique, undefined);
  assert.deepEqual(cut.counted, { ...failed, "tokens.sampled": 3, "tokens.discarded": 3 });
});

test("selfCritique: no room is a failure, no attempt is nothing to look at", async () => {
  const full = await criticised(["outcome"], {}, attempt, 8);
  assert.deepEqual(full.counted, { "judge.calls": 1, "judge.failures": 1 });
  const idle = await criticised(["outcome"], {}, trajectoryOf("idle", []));
  assert.deepEqual([idle.critique, idle.counted], [undefined, {}]);
});

test("selfCritique: what was written can be read otherwise", async () => {
  const { critique } = await criticised(["failure", "turn", "1"], {
    maxTokens: 1,
    read: (text, t, stop) => ({ text: `${text} ${t.id} ${stop}` }),
  });
  assert.equal(critique!.text, "failure t length");
});

test("selfCritique: the question may say more of the attempt, and the writer is known by its name in the run", async () => {
  const asked = await criticised(["outcome", ":", "failure"], {
    model: "reflector",
    question: ({ turns }) => turns[0]!.action.content,
  });
  const turn = asked.critique!.written!.turns[0]!;
  assert.equal(turn.prompt.at(-1)!.content, "a1");
  assert.equal(turn.model, "reflector");
});
