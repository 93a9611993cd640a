import assert from "node:assert/strict";
import { test } from "node:test";
import { critiquing, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Counter } from "../../../core/counter.ts";
import { counted } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { discreet } from "./discreet.ts";

const t = trajectoryOf("t", []);
const task: Task = { id: "task", prompt: [], metadata: {}, seed: 0 };
const saying = (text: string | undefined) =>
  critiquing(() => (text === undefined ? undefined : { text, outcome: "failure" }));

async function heard(text: string | undefined, reference: string | undefined) {
  let failures = 0;
  const count = (counter: Counter, amount: number): void => {
    if (counter === "judge.failures") failures += amount;
  };
  const attempt = { task: { ...task, ...(reference !== undefined && { reference }) }, trajectory: t };
  const { critique: ask } = counted(discreet(saying(text)), { count });
  const critique = await ask(attempt, { random: randomStream(1) });
  return { text: critique?.text, failures };
}

test("discreet drops what gives the reference away, counts it, and passes on the rest", async () => {
  assert.deepEqual(await heard("write w1 w2 instead", "w1 w2"), { text: undefined, failures: 1 });
  assert.deepEqual(await heard("begin with w1", "w1 w2"), { text: "begin with w1", failures: 0 });
  assert.deepEqual(await heard("write w1 w2", undefined), { text: "write w1 w2", failures: 0 });
  // a critiquer that failed is one failure, not two
  assert.deepEqual(await heard(undefined, "w1"), { text: undefined, failures: 1 });
});

test("discreet: what a model of the run wrote in vain is counted as discarded", async () => {
  const written = trajectoryOf("t/critique", [turnOf([1], [2, 3, 4])]);
  const counts: Partial<Record<Counter, number>> = {};
  const count = (counter: Counter, amount: number): void => {
    counts[counter] = (counts[counter] ?? 0) + amount;
  };
  const critiquer = discreet(critiquing(() => ({ text: "It is W1.", outcome: "failure", written })));
  const attempt = { task: { ...task, reference: "w1" }, trajectory: t };
  const { critique } = counted(critiquer, { count });
  assert.equal(await critique(attempt, { random: randomStream(1) }), undefined);
  assert.deepEqual(counts, { "judge.calls": 1, "judge.failures": 1, "tokens.discarded": 3 });
});
