import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task } from "../../src/core/types.ts";
import { facts } from "../../src/env/facts/facts.ts";
import { gapOf, gaps } from "../../src/env/facts/gaps.ts";
import { isSuccess, play } from "./play.ts";

const env = facts();
const tasks = (split: string): readonly Task[] => env.tasks(split);
const asked = (split: string): ReadonlySet<string> =>
  new Set(tasks(split).map((t) => String(t.metadata.entity)));
const chainsOf = (split: string): ReadonlySet<string> =>
  new Set(tasks(split).map((t) => String(t.metadata.chain)));

/** Says the lines one after the other, then answers. */
async function conversation(task: Task, lines: readonly string[]): Promise<readonly string[]> {
  const left = [...lines];
  const played = await play(env, task, () => left.shift() ?? "answer unknown");
  return played.conversation
    .slice(task.prompt.length)
    .filter((m) => m.role === "user")
    .map((m) => m.content);
}

test("facts: no name that is asked about in test or unseen-chains is asked about in train or validation", () => {
  const train = asked("train");
  const validation = asked("validation");
  for (const name of validation) assert.ok(!train.has(name), name);
  for (const split of ["test", "unseen-chains"]) {
    for (const name of asked(split)) assert.ok(!train.has(name) && !validation.has(name), name);
  }
});

test("facts: unseen chains are in no other split, but all their steps are in training", () => {
  const steps = (chain: string): string[] => {
    const parts = chain.split(" > ");
    return parts.slice(1).map((p, i) => `${parts[i]} > ${p}`);
  };
  const seen = chainsOf("train");
  const known = new Set([...seen].flatMap(steps));
  for (const chain of chainsOf("unseen-chains")) {
    for (const split of ["train", "validation", "test"]) assert.ok(!chainsOf(split).has(chain), chain);
    const [first, ...rest] = chain.split(" > ");
    for (const relation of rest)
      assert.ok(
        [...known].some((s) => s.endsWith(`> ${relation}`)),
        relation,
      );
    assert.ok(
      [...known].some((s) => s.startsWith(`${first} >`)),
      first,
    );
  }
  for (const chain of chainsOf("test")) assert.ok(seen.has(chain), chain);
});

test("facts: splits are large enough and the vocabulary is small", () => {
  assert.ok(tasks("train").length >= 1000);
  assert.ok(tasks("test").length >= 300 && tasks("unseen-chains").length >= 300);
  const words = new Set(env.vocabulary!().flatMap((t) => t.split(" ")));
  assert.ok(words.size <= 1000, String(words.size));
  for (const word of words) assert.match(word, /^([a-z]+|[0-9]+|[.,])$/);
});

test("facts: failed commands are told in words", async () => {
  const task = tasks("test").find((t) => t.metadata.start === "native")!;
  const name = String(task.metadata.entity);
  const said = await conversation(task, [
    `lookup capital of ${name}`,
    `search ${name}`,
    "lookup capital of lima",
    "lookup country of euro",
    "lookup wisdom of peru",
    "dance",
  ]);
  assert.equal(said[0], `no entry for ${name} . try search`);
  assert.match(said[1]!, /^other name of /);
  assert.equal(said[2], "lima is a city , not a country");
  assert.equal(said[3], "euro is used in many countries");
  assert.match(said[4]!, /^unknown relation \. use capital , /);
  assert.equal(said[5], "unknown command . use search , lookup or answer");
});

test("facts: a wrong answer is told so without the right one", async () => {
  const task = tasks("test").find((t) => t.metadata.chain === "capital > country > currency")!;
  const wrong = await play(env, task, () => "answer peru");
  assert.deepEqual(wrong.texts, ["wrong answer . peru is a country , the question asks for the currency"]);
  assert.equal(wrong.outcome, 0);
  const cut = await play(env, task, () => "search peru");
  assert.deepEqual(cut.end, { kind: "truncated", limit: "turns", at: 8 });
  assert.equal(cut.outcome, 0);
});

test("facts: the flawed player fails exactly where a gap is hit, and each gap is hit in 15 to 25 % of the tasks", async () => {
  for (const split of env.splits) {
    const hits = new Map(gaps.map((g) => [g.name, 0]));
    for (const task of tasks(split)) {
      const gap = gapOf(task);
      if (gap) hits.set(gap.name, hits.get(gap.name)! + 1);
      assert.equal(isSuccess(await play(env, task, env.flawed!)), gap === undefined, task.id);
    }
    for (const [name, n] of hits) {
      const share = n / tasks(split).length;
      assert.ok(share >= 0.15 && share <= 0.25, `${split}: ${name} ${share}`);
    }
  }
});
