import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { arithmetic } from "../../src/env/arithmetic.ts";
import { countdown } from "../../src/env/countdown.ts";
import type { Environment } from "../../src/env/environment.ts";
import { codeIn } from "../../src/env/fenced.ts";
import { functions } from "../../src/env/functions/functions.ts";
import { sql } from "../../src/env/sql/sql.ts";

/** What is said to each of these replies, and how it ends. */
async function said(environment: Environment, task: Task, replies: readonly string[]) {
  const episode = await environment.start(task, randomStream(1));
  const words: string[] = [];
  for (const content of replies) {
    const { rewards = {}, text, end } = await episode.act({ content, stop: "eos" });
    const next = end === undefined ? (await episode.observe()).observation.messages.at(-1)?.content : text;
    words.push(next ?? "");
    if (end) return { words, rewards, end };
  }
  return { words };
}

const taskWith = (prompt: string, metadata: Task["metadata"], reference: string): Task => ({
  id: "t",
  prompt: [{ role: "user", content: prompt }],
  metadata,
  reference,
  seed: 1,
});

test("arithmetic: a wrong answer is too high or too low, and the first right one ends it", async () => {
  const task = taskWith("what is 3 + 4 * 2 ?", { sum: "3 + 4 * 2" }, "11");
  assert.deepEqual(await said(arithmetic(), task, ["14", "-1", "11"]), {
    words: ["too high", "too low", "right"],
    rewards: { outcome: 1 },
    end: { kind: "done", reason: "right", success: true },
  });
  assert.deepEqual(await said(arithmetic(), task, ["11.0", "eleven", "12"]), {
    words: ["not a whole number", "not a whole number", "too high"],
    rewards: { outcome: 0 },
    end: { kind: "done", reason: "wrong", success: false },
  });
});

test("countdown: every number once, and what is wrong is said", async () => {
  const task = taskWith("reach 14 with 3 4 2", { numbers: [3, 4, 2], target: 14 }, "( 3 + 4 ) * 2");
  const sums = {
    "3 + 4 * 2": "is too low",
    "3 * 4 * 2": "is too high",
    "( 3 + 4 ) / 2": "is no whole number",
    "3 + 4": "does not use 2",
    "3 + 3 + 4 + 2": "uses 3 too often",
    "7 * 2": "uses other numbers",
    "3 + four": "cannot be taken : no sum",
    "3 / ( 2 - 2 )": "cannot be taken : divides by zero",
    "2*(3+4)": "right",
  };
  const { words } = await said(countdown({ turns: 9 }), task, Object.keys(sums));
  assert.deepEqual(words, Object.values(sums));
});

test("functions: the runtime's error and where it came up, then the first wrong result", async () => {
  const calls = ["solve([1,5])", "solve([])", "solve([9])"];
  const task = taskWith("…", { calls, slip: "" }, "function solve(xs) { return xs.filter((x) => x > 2); }");
  const { words, rewards } = await said(functions({ turns: 6, partial: true }), task, [
    "function solve(xs) {",
    "const solve = (xs) => xs.filtr((x) => x);",
    "```js\nfunction solve(xs) { return xs.slice(1); }\n```",
    "function solve(xs) { return xs.filter((x) => x === 5); }",
    "function solve(xs) { for (;;); }",
    "Here it is:\n```js\nconst solve = (xs) => xs.filter((x) => x > 2);\n```",
  ]);
  assert.deepEqual(words.slice(1), [
    "in solve([1,5]): TypeError: not a function (line 1)",
    "the calls shown are right, a further one is not: 2 of 3 passed before it",
    "the calls shown are right, a further one is not: 2 of 3 passed before it",
    "in solve([1,5]): stopped: it ran for more than 2000000 steps",
    "right",
  ]);
  assert.match(words[0]!, /^before any call: SyntaxError: /);
  assert.deepEqual(rewards, { outcome: 1, passed: 1 });
});

test("functions: a program cannot find out what is wanted, nor pass by tampering", async () => {
  const task = functions().tasks("train")[0]!;
  const cheats = [
    "const solve = () => ({ toString: () => 'x', valueOf: () => 1 });",
    "JSON.stringify = () => '[]'; Array.isArray = () => true; Object.keys = () => []; const solve = () => [];",
    "var solve = (...xs) => xs; Object.prototype.toJSON = () => '[]';",
  ];
  for (const cheat of cheats) {
    const verified = await said(functions({ turns: 1 }), task, [cheat]);
    assert.equal(verified.rewards?.outcome, 0);
  }
});

test("sql: errors, then how the table differs; rows in any order, columns in theirs", async () => {
  const gold = "SELECT species, count(*) FROM penguins GROUP BY species";
  const task = taskWith("…", { slip: "" }, gold);
  const { words, rewards } = await said(sql({ turns: 5, partial: true }), task, [
    "SELECT specie FROM penguins",
    "DROP TABLE penguins",
    "SELECT species FROM penguins GROUP BY species",
    "SELECT count(*), species FROM penguins GROUP BY species",
    "```sql\nSELECT species, count(*) AS n FROM penguins GROUP BY species ORDER BY n;\n```",
  ]);
  assert.deepEqual(words, [
    "no such column: specie",
    "not authorized: only SELECT may be used here",
    'not the table that was asked for: 3 × 1 (rows × columns) instead of 3 × 2, beginning ["Adelie"]',
    'not the table that was asked for: 3 × 2 as it should be, but other values, beginning [152,"Adelie"]',
    "right",
  ]);
  assert.deepEqual(rewards, { outcome: 1, match: 1, runs: 1 });
});

test("codeIn: the last fence, an open one too, or everything", () => {
  assert.equal(codeIn("a\n```js\nb\n```\nc\n```\nd\n```"), "d");
  assert.equal(codeIn("a\n```js\nb"), "b");
  assert.equal(codeIn(" a `b` "), "a `b`");
});

test("tries: partial rewards are paid where they are asked for alone", async () => {
  const task = taskWith("…", { slip: "" }, "SELECT count(*) FROM penguins");
  assert.deepEqual((await said(sql({ turns: 1 }), task, ["SELECT 1"])).rewards, { outcome: 0 });
  assert.deepEqual((await said(sql({ turns: 1, partial: true }), task, ["SELECT 1"])).rewards, {
    outcome: 0,
    match: 0,
    runs: 1,
  });
});
