import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf, ctxWith, evidenceOf } from "../../../../test/core/make.ts";
import type { Counter } from "../../../core/counter.ts";
import type { Attempt } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Stats } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { nothing } from "../../../update/nothing.ts";
import { answers } from "../../../worlds/answers.ts";
import { sequences } from "../../../worlds/sequences.ts";
import { bestOf } from "./bestOf.ts";
import { bestOfN } from "./method.ts";

/** @param scores by trajectory; the environment gives the others none. */
async function chosen(scores: Readonly<Record<string, number>>, groups: readonly number[]) {
  const annotated = evidenceOf(groups.map((n) => Array.from({ length: n }, () => 0)));
  const rollout: Rollout = async () => annotated;
  const counted: Partial<Record<Counter, number>> = {};
  const count = (name: Counter, amount: number): void => {
    counted[name] = (counted[name] ?? 0) + amount;
  };
  const score = async (attempts: readonly Attempt[]) =>
    attempts.map(({ trajectory: { id } }): Stats => (id in scores ? { outcome: scores[id]! } : {}));
  const ctx = ctxWith({ score }, { count });
  const { units, trajectories } = await bestOf(rollout)(ctx);
  assert.deepEqual(
    trajectories.map((t) => t.id),
    units.flatMap((u) => u.members),
  );
  return { ids: units.map((u) => u.id), discarded: counted["tokens.discarded"] };
}

test("one unit of each group stays: the best, the first of equals, silence last", async () => {
  const scores = { "0.1": 0.5, "0.2": 0.7, "0.3": 0.7, "1.1": -3 };
  // two tokens each: 3 + 1 dropped
  assert.deepEqual(await chosen(scores, [4, 2, 1]), { ids: ["0.2", "1.1", "2.0"], discarded: 8 });
});

test("nothing takes no step", async () => {
  const batch = batchOfRows([{ behaviour: [-1], advantage: [1] }]);
  assert.deepEqual(await nothing()(ctxOf({}), batch, [], evidenceOf([[1]])), { steps: 0 });
});

test("best of n succeeds as often as n attempts hold a success, and changes nothing", async () => {
  const run = (groupSize: number) =>
    trainInMemory({
      environment: answers({ questions: 20, vocabulary: 8, right: 2 }),
      method: bestOfN.build({ tasks: 20, groupSize }),
      engine: tabularEngine({ prior: (_, word) => (/^a/.test(word) ? 0 : -1e9) }),
      seed: 3,
      iterations: 40,
    });
  const { curve, policy } = await run(4);
  // one attempt succeeds in 1/4: 1 − (3/4)⁴ = 0.684; standard error of 800 tasks √(0.684 · 0.316 / 800) = 0.016
  const success = curve.reduce((sum, m) => sum + m.success! / curve.length, 0);
  assert.ok(Math.abs(success - 0.684) < 0.05, `${success}`);
  assert.equal(policy.version, "0");
});

test("best of n ranks by what the environment says, also between partial successes", async () => {
  const run = (groupSize: number) =>
    trainInMemory({
      environment: sequences({ pay: { kind: "sum" } }),
      method: bestOfN.build({ tasks: 8, groupSize }),
      engine: tabularEngine({ prior: (_, word) => (/^w/.test(word) ? 0 : -1e9) }),
      seed: 3,
      iterations: 10,
    });
  const reward = async (groupSize: number): Promise<number> =>
    (await run(groupSize)).curve.reduce((sum, m) => sum + m.reward! / 10, 0);
  assert.ok((await reward(8)) > (await reward(1)) + 0.1);
});
