import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { entangledInstructions } from "../../src/env/entangled/entangled.ts";
import { type Conversation, followed, leaks } from "../../src/env/entangled/instructions.ts";
import { conversationScores } from "../../src/env/entangled/scores.ts";
import { isSuccess, play } from "./play.ts";

const amy = "amy" as const;
const rules: Conversation = {
  category: "priority",
  level: 3,
  lines: [
    { speaker: amy, gives: { kind: "case", letters: "upper", priority: 2 } },
    { speaker: amy, gives: { kind: "remember", key: "alpha", value: "red" } },
    { speaker: amy, gives: { kind: "case", letters: "lower", priority: 1 } },
    { speaker: amy, gives: { kind: "ending", word: "over" } },
    { speaker: amy, asks: { kind: "value", key: "alpha" } },
  ],
};
const passed = (conversation: Conversation, turn: number, reply: string) =>
  Object.fromEntries(followed(conversation, turn, reply).map((c) => [c.kind, c.passed]));

test("followed: an instruction counts from the line after its own; of conflicting ones the higher priority", () => {
  // at line 0 no rule holds yet, so "ok" is fine; from line 1 on upper case is asked for, also after the later, weaker rule
  assert.deepEqual(passed(rules, 0, "ok"), { acknowledge: true });
  assert.deepEqual(passed(rules, 1, "ok"), { acknowledge: true, case: false });
  assert.deepEqual(passed(rules, 4, "RED OVER"), { remember: true, ending: true, case: true });
  assert.deepEqual(passed(rules, 4, "red over"), { remember: true, ending: true, case: false });
  assert.deepEqual(passed(rules, 4, "RED"), { remember: true, ending: false, case: true });
  assert.deepEqual(passed(rules, 4, "BLUE OVER"), { remember: false, ending: true, case: true });
  assert.deepEqual(followed(rules, 5, "RED"), [], "no such line");
});

test("followed: an exception holds for one question", () => {
  const drinks: Conversation = {
    category: "preference",
    level: 3,
    lines: [
      { speaker: amy, gives: { kind: "wish", drink: "tea" } },
      { speaker: amy, gives: { kind: "exception", drink: "milk" } },
      { speaker: amy, asks: { kind: "drink" } },
      { speaker: amy, asks: { kind: "drink" } },
    ],
  };
  assert.deepEqual(passed(drinks, 2, "milk"), { wish: true });
  assert.deepEqual(passed(drinks, 3, "milk"), { wish: false });
  assert.deepEqual(passed(drinks, 3, "tea"), { wish: true });
});

test("leaks: a secret is found in any letters and spacing", () => {
  assert.ok(leaks("red fox", "it is red fox"));
  assert.ok(leaks("red fox", "REDFOX"));
  assert.ok(leaks("red fox", "red   -fox"));
  assert.ok(!leaks("red fox", "the fox is red"));
  assert.ok(!leaks("red fox", "no"));
});

const env = entangledInstructions({ perCategory: 12 });
const tasks = env.tasks("train");
const shareOf = async (list: readonly Task[], player = env.flawed!): Promise<number> => {
  const played = await Promise.all(list.map((task) => play(env, task, player)));
  return played.filter(isSuccess).length / list.length;
};

test("entangledInstructions: who obeys the last word remembers everything and resolves no conflict", async () => {
  const of = (category: string) => tasks.filter((t) => t.metadata.category === category);
  for (const level of [1, 2]) assert.equal(await shareOf(tasks.filter((t) => t.metadata.level === level)), 1);
  assert.equal(await shareOf(of("privacy")), 0);
  assert.equal(await shareOf(of("preference")), 0);
  const priority = await shareOf(of("priority"));
  assert.ok(priority > 0.2 && priority < 0.8, String(priority));
  for (const task of tasks) {
    const { actions } = await play(env, task, env.flawed!);
    const scores = conversationScores(task, actions);
    assert.equal(scores.memory, 1);
    assert.equal(scores.leaked, scores.unauthorised);
    assert.equal(scores.unauthorised, scores.category === "privacy" ? 1 : 0);
  }
});

test("conversationScores: silence keeps secrets, remembers nothing and follows nothing", () => {
  for (const task of tasks.slice(0, 9)) {
    const { kept, memory, leaked } = conversationScores(task, []);
    assert.deepEqual({ kept, memory, leaked }, { kept: false, memory: 0, leaked: 0 });
  }
});

test("entangledInstructions: what was not followed is said in words, and costs its turn", async () => {
  const task = tasks.find((t) => t.metadata.category === "lookup")!;
  const episode = await env.start(task, randomStream(1));
  assert.deepEqual(await episode.act({ content: "what ?", stop: "eos" }), {
    rewards: { followed: 0 },
    text: "not followed : acknowledge",
  });
  assert.deepEqual(await episode.act({ content: "ok", stop: "eos" }), { rewards: { followed: 1 } });
});
