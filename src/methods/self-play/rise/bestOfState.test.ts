import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { answers } from "../../../worlds/answers.ts";
import { tryAgain } from "../../../worlds/tryAgain.ts";
import { bestOfState, paidLast } from "./bestOfState.ts";
import { rise } from "./method.ts";

const branch = (id: string, rewards: readonly number[]): Trajectory =>
  trajectoryOf(
    id,
    rewards.map((outcome) => turnOf([1], [2, 3], { rewards: { outcome } })),
  );
const annotated = (groups: Readonly<Record<string, readonly Trajectory[]>>) => ({
  trajectories: Object.values(groups).flat(),
  units: Object.entries(groups).flatMap(([group, own]) =>
    own.map(({ id }) => ({ id, group, members: [id] })),
  ),
  notes: {},
  signals: [],
  channels: {},
});

test("the best of each state, weighted by exp(r/τ) over the mean weight; earlier rewards do not count", () => {
  const { advantages, stats } = bestOfState({ tau: 0.4 }).apply(
    annotated({
      first: [branch("a", [0]), branch("b", [1]), branch("c", [1])],
      second: [branch("d", [1, 0]), branch("e", [0, 0])],
    }),
    null,
    undefined,
  );
  // weights e^2.5 = 12.1825 and 1, mean 6.5912
  assert.deepEqual([...advantages.keys()], ["b", "d"]);
  assert.ok(Math.abs(advantages.get("b")![0]! - 12.182494 / 6.591247) < 1e-5);
  assert.ok(Math.abs(advantages.get("d")![3]! - 1 / 6.591247) < 1e-5);
  assert.deepEqual(stats, { improved: 0.5 });
  assert.equal(paidLast(branch("f", [1, 0.3])), 0.3);
});

test("a small τ does not overflow; without units nothing is imitated", () => {
  const { advantages } = bestOfState({ tau: 1e-3 }).apply(
    annotated({ first: [branch("a", [1])], second: [branch("b", [0])] }),
    null,
    undefined,
  );
  assert.deepEqual([advantages.get("a")![0], advantages.get("b")![0]], [2, 0]);
  const none = bestOfState({ tau: 0.4 }).apply(annotated({}), null, undefined);
  assert.deepEqual([none.advantages.size, none.stats], [0, {}]);
});

test("states are those that the policy's own mistakes lead to, and only the last attempt is trained on", async () => {
  const environment = tryAgain(answers({ questions: 2, vocabulary: 4, right: 1 }), {
    turns: 3,
    words: "wrong",
  });
  const lengths = new Set<number>();
  await trainInMemory({
    environment,
    engine: tabularEngine({ prior: (_context, word) => (/^a\d$/.test(word) ? 0 : -1e9) }),
    method: rise.build({ tasks: 2, groupSize: 3, optimiser: "sgd", learningRate: 1 }),
    seed: 1,
    iterations: 10,
    onIteration: ({ experience, advantages }) => {
      for (const t of experience.trajectories) {
        lengths.add(t.turns.length);
        t.turns.slice(0, -1).forEach(({ tokens, rewards }) => {
          assert.deepEqual([...tokens!.forced!], [1]);
          assert.equal(rewards.outcome, 0); // nobody tries again after a right answer
        });
      }
      assert.equal(advantages.size, new Set(experience.units.map(({ group }) => group)).size);
    },
  });
  assert.deepEqual([...lengths].sort(), [1, 2, 3]);
});
