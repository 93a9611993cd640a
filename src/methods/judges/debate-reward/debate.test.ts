import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { ComparedExchanges } from "../../../helper/bradleyTerry.ts";
import { cases } from "./cases.ts";
import { debate, debated } from "./debate.ts";
import { actionOf, type DebateRewardOptions, debateReward, someEvidence, wordsOf } from "./debateReward.ts";

obeysTheLaws(() => cases(1), { garbage: 0.7 });

const additive = (worths: readonly number[]) => (revealed: readonly number[]) =>
  revealed.reduce((sum, e) => sum + worths[e]!, 0);

test("each side reveals what helps it most, and the sign of what was revealed decides", () => {
  const worths = [3, -2, 1, -4, 2];
  // 3, −4; then 2, −2: −1 in all
  assert.equal(debate(additive(worths), 5, { items: 2, first: 1 }), -1);
  assert.equal(debate(additive(worths), 5, { items: 4, first: 2 }), -1);
  // three items: who begins reveals two. 3 − 4 + 2 = 1;  −4 + 3 − 2 = −3
  assert.equal(debate(additive(worths), 5, { items: 3, first: 1 }), 1);
  assert.equal(debate(additive(worths), 5, { items: 3, first: 2 }), -1);
  assert.equal(debated(additive(worths), 5, { items: 3 }), 0);
  // side 1 alone: 3, then 2
  assert.equal(debated(additive(worths), 5, { items: 4, sides: [1] }), 1);
  assert.equal(debate(additive([1, -1]), 2, { items: 9, first: 1 }), 0);
  assert.equal(debate(additive([]), 0, { items: 4, first: 1 }), 0);
});

test("swapping the sides changes the sign of the outcome", () => {
  for (let seed = 0; seed < 50; seed++) {
    const random = randomStream(seed);
    const worths = Array.from({ length: 6 }, () => random.normal());
    const swapped = worths.map((w) => -w);
    for (const items of [1, 2, 3, 4])
      assert.equal(debated(additive(worths), 6, { items }), -debated(additive(swapped), 6, { items }) + 0);
  }
});

const task: Task = {
  id: "t",
  prompt: [{ role: "user", content: "cough fever cough rash" }],
  metadata: {},
  seed: 1,
};
const acting = (id: string, content: string, outcome: number) =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content }, rewards: { outcome } })]);

const paidFor = async (
  options: Partial<DebateRewardOptions>,
  worths: Readonly<Record<string, number>> = {},
) => {
  const helper = {
    fit: async () => ({}),
    // what the words are worth for "treat", less that for "wait"
    predict: async (xs: readonly ComparedExchanges[]) =>
      xs.map(({ first, second }) => {
        const worth = first.asked.split(" ").reduce((sum, word) => sum + (worths[word] ?? 0), 0);
        return first.replied === "treat" && second?.replied === "wait" ? worth : -worth;
      }),
  };
  const ctx = ctxOf({ helper: () => helper as never, task: () => task, random: randomStream(1) });
  const signals = await debateReward({ lambda: 0.5, items: 2, rivalOf: async () => "wait", ...options })(
    ctx,
    { trajectories: [acting("a", "treat", 0.25), acting("b", "wait", 1)], units: [] },
    {},
  );
  return signals.map((s) => (s.kind === "reward" ? s.value : Number.NaN));
};

test("an attempt is paid its reward and the outcome of its debate; doing as the rival does is no debate", async () => {
  const worths = { cough: 1, fever: 3, rash: -2 };
  // fever 3 against rash −2: won.  ½ · 0.25 + ½ · 1;  ½ · 1
  assert.deepEqual(await paidFor({}, worths), [0.625, 0.5]);
  assert.deepEqual(await paidFor({}, { ...worths, rash: -4 }), [-0.375, 0.5]);
  assert.deepEqual(await paidFor({ lambda: 0 }, worths), [0.25, 1]);
  assert.deepEqual(await paidFor({ rivalOf: async () => undefined }, worths), [0.125, 0.5]);
  // 1 + 3 − 4 = 0: a judge who sees everything calls it a tie
  assert.deepEqual(await paidFor({ how: "all" }, { ...worths, rash: -4 }), [0.125, 0.5]);
  assert.deepEqual(await paidFor({ how: "one" }, { ...worths, rash: -9 }), [0.625, 0.5]);
});

test("evidence is the words of the task, some of them at random for a judge to learn from", () => {
  assert.deepEqual(wordsOf(task), ["cough", "fever", "rash"]);
  const drawn = (seed: number) => someEvidence({ random: randomStream(seed) }, task, 2).split(" ");
  assert.equal(new Set(drawn(1)).size, 2);
  assert.ok(new Set(Array.from({ length: 20 }, (_, s) => drawn(s).sort().join(" "))).size > 1);
  assert.equal(actionOf(acting("a", " treat ", 0)), "treat");
});

test("cases: people prefer by four findings; what pays agrees with them more often than not", () => {
  let [agreed, all] = [0, 0];
  for (let seed = 1; seed <= 10; seed++) {
    const world = cases(seed);
    for (const own of world.tasks("train")) {
      agreed += Number(world.preferenceOf(own) > 0 === world.advantageOf(own) > 0);
      all++;
    }
  }
  assert.ok(agreed / all > 0.55 && agreed / all < 0.95, `${agreed / all}`);
});
