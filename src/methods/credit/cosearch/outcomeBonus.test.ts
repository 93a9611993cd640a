import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Ref } from "../../../core/types.ts";
import { outcomeBonus } from "./outcomeBonus.ts";

const signal = (channel: string, about: Ref, value: number): Signal => ({
  kind: "reward",
  channel,
  about: [about],
  value,
  source: "test",
});

/** One episode with an agent of this outcome, whose ranker got these scores. */
function paid(outcome: number | undefined, scores: readonly number[], channel: string): number[] {
  const turns = scores.map((_, k) => turnOf([1, k], [2]));
  const trajectories = [
    trajectoryOf("e/agent", [turnOf([1], [2])], { episode: "e" }),
    trajectoryOf("e/ranker", turns, { episode: "e", role: "ranker" }),
  ];
  const signals = scores.map((value, turn) => signal(channel, { trajectory: "e/ranker", turn }, value));
  if (outcome !== undefined) signals.push(signal("outcome", { trajectory: "e/agent" }, outcome));
  const channels = outcomeBonus()({ trajectories, units: [], notes: {}, signals });
  return channels[channel]!.map((c) => c.value);
}

test("where the answer was among the candidates, only a good ranking gets the bonus", () => {
  assert.deepEqual(paid(1, [-0.2, 0, 0.5, 0.8, 1], "ranking"), [-0.2, 0, 0.5, 1.8, 2]);
});

test("where it was not, every ranking of the right form does", () => {
  assert.deepEqual(paid(0.8, [-0.2, 0], "ranking.unavailable"), [-0.2, 1]);
});

test("no bonus without a good outcome, or without any", () => {
  assert.deepEqual(paid(0.7, [0, 1], "ranking"), [0, 1]);
  assert.deepEqual(paid(undefined, [0, 1], "ranking"), [0, 1]);
});

test("outcomes belong to the agent alone, and to its own episode", () => {
  const trajectories = ["a", "b"].flatMap((episode) => [
    trajectoryOf(`${episode}/agent`, [turnOf([1], [2])], { episode }),
    trajectoryOf(`${episode}/ranker`, [turnOf([1], [2])], { episode, role: "ranker" }),
  ]);
  const signals = [
    signal("outcome", { trajectory: "a/agent" }, 1),
    signal("outcome", { trajectory: "a/ranker" }, 0),
    signal("outcome", { trajectory: "b/agent" }, 0),
    signal("ranking", { trajectory: "a/ranker", turn: 0 }, 1),
    signal("ranking", { trajectory: "b/ranker", turn: 0 }, 1),
  ];
  const channels = outcomeBonus()({ trajectories, units: [], notes: {}, signals });
  assert.deepEqual(
    channels.outcome!.map(({ at, value }) => [at.trajectory, value]),
    [
      ["a/agent", 1],
      ["b/agent", 0],
    ],
  );
  assert.deepEqual(
    channels.ranking!.map((c) => c.value),
    [2, 1],
  );
});
