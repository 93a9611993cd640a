import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { Ending, Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { ladders } from "../../../worlds/ladders.ts";
import { best, drawn, grown, type Item } from "./exploring.ts";
import { improvementOf } from "./improvement.ts";
import { exit } from "./method.ts";

const cut: Ending = { kind: "truncated", limit: "turns", at: 3 };
/** An attempt with these rewards by turn, the first `taken` of which it took over. */
const attempt = (rewards: readonly number[], taken: number, end: Ending = cut): Trajectory =>
  trajectoryOf(
    "t",
    rewards.map((outcome) => turnOf([1], [2, 3], { rewards: { outcome } })),
    {
      end,
      ...(taken > 0 && { lineage: { parent: "p", turn: taken, why: "branch" } }),
    },
  );
const near = (got: number, want: number): void =>
  assert.ok(Math.abs(got - want) < 1e-5, `${got} for ${want}`);

test("improvementOf: the share of what was missing; never below 0; the quality itself from a start", () => {
  near(improvementOf(attempt([0.2, 0.2, 0.3], 2)), 0.3 / 0.6);
  near(improvementOf(attempt([0.5, -0.1], 1)), 0);
  near(improvementOf(attempt([0.2], 0)), 0.2);
  assert.ok(Number.isFinite(improvementOf(attempt([1, 0], 1))));
});

test("drawn: in proportion to exp(κ S / max S), uniformly without scores", () => {
  const random = randomStream("drawn");
  const shares = (scores: readonly number[], sharpness: number) => {
    const counts = scores.map(() => 0);
    for (let i = 0; i < 4000; i++) counts[drawn(scores, sharpness, random)]! += 1 / 4000;
    return counts;
  };
  // e^2 : e^1 : e^0
  const total = Math.E ** 2 + Math.E + 1;
  const got = shares([0.02, 0.01, 0], 2);
  [Math.E ** 2, Math.E, 1].forEach((weight, i) => {
    assert.ok(Math.abs(got[i]! - weight / total) < 0.03, `${got}`);
  });
  for (const share of shares([0, 0], 6)) assert.ok(Math.abs(share - 0.5) < 0.03);
});

test("grown: an item for each new turn that another can follow, of score 0 where the task is solved", () => {
  const of = (items: readonly Item[]) => items.map(({ turns, score }) => [turns, score]);
  assert.deepEqual(of(grown(attempt([0, 0.1], 1), 1, 0.3)), [[2, 0.3]]);
  assert.deepEqual(of(grown(attempt([0, 0, 0], 0), 0, 0.3)), [
    [1, 0.3],
    [2, 0.3],
    [3, 0.3],
  ]);
  const over: Ending = { kind: "done", reason: "over", success: false };
  assert.deepEqual(of(grown(attempt([0, 0], 0, over), 0, 0.3)), [[1, 0.3]]);
  assert.deepEqual(of(grown(attempt([0.5, 0.5], 1), 1, 0.3)), [[2, 0]]);
});

test("best: the highest scores stay; of equal ones the newer", () => {
  const item = (turns: number, score: number): Item => ({ task: "t", attempt: "", turns, score });
  const kept = best([item(1, 0.1), item(2, 0.5), item(3, 0.1), item(4, 0)], 2);
  assert.deepEqual(
    kept.map(({ turns }) => turns),
    [2, 3],
  );
});

test("steps begin where earlier attempts ended, deeper and deeper, and train their own turn alone", async () => {
  const depths: number[] = [];
  await trainInMemory({
    environment: ladders({ ladders: 2, levels: 4, edits: 3, turns: 8 }),
    engine: tabularEngine({ context: "message", prior: (_context, word) => (/^e\d$/.test(word) ? 0 : -1e9) }),
    method: exit.build(
      { tasks: 2, groupSize: 4, optimiser: "sgd", learningRate: 1 },
      { fromBuffer: 0.9, diverge: 0 },
    ),
    seed: 1,
    iterations: 30,
    onIteration: ({ experience }) => {
      for (const { turns, lineage } of experience.trajectories) {
        assert.equal(turns.length, (lineage?.turn ?? 0) + 1);
        depths.push(lineage?.turn ?? 0);
      }
    },
  });
  assert.equal(depths.length, 30 * 8);
  assert.ok(Math.max(...depths) >= 3, `${Math.max(...depths)}`);
});
