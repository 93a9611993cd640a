import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Counter } from "../../../core/context.ts";
import type { Critiquer } from "../../../core/critiquer.ts";
import { randomStream } from "../../../core/random.ts";
import { discreet } from "./discreet.ts";

const t = trajectoryOf("t", []);
const saying =
  (text: string | undefined): Critiquer =>
  async () =>
    text === undefined ? undefined : { text, outcome: "failure" };

async function heard(text: string | undefined, reference: string | undefined) {
  let failures = 0;
  const ctx = ctxOf({
    task: () => ({
      id: "task",
      prompt: [],
      metadata: {},
      seed: 0,
      ...(reference !== undefined && { reference }),
    }),
    count: (counter, amount) => {
      if (counter === "judge.failures") failures += amount;
    },
  });
  const critique = await discreet(saying(text))(ctx, t, randomStream(1));
  return { text: critique?.text, failures };
}

test("discreet drops what gives the reference away, counts it, and passes on the rest", async () => {
  assert.deepEqual(await heard("write w1 w2 instead", "w1 w2"), { text: undefined, failures: 1 });
  assert.deepEqual(await heard("begin with w1", "w1 w2"), { text: "begin with w1", failures: 0 });
  assert.deepEqual(await heard("write w1 w2", undefined), { text: "write w1 w2", failures: 0 });
  // a critic that failed has counted that itself
  assert.deepEqual(await heard(undefined, "w1"), { text: undefined, failures: 0 });
});

test("discreet: what a model of the run wrote in vain is counted as discarded", async () => {
  const written = trajectoryOf("t/critique", [turnOf([1], [2, 3, 4])]);
  const counted: Partial<Record<Counter, number>> = {};
  const ctx = ctxOf({
    task: () => ({ id: "task", prompt: [], metadata: {}, seed: 0, reference: "w1" }),
    count: (counter, amount) => {
      counted[counter] = (counted[counter] ?? 0) + amount;
    },
  });
  const critic = discreet(async () => ({ text: "It is W1.", outcome: "failure", written }));
  assert.equal(await critic(ctx, t, randomStream(1)), undefined);
  assert.deepEqual(counted, { "judge.failures": 1, "tokens.discarded": 3 });
});
