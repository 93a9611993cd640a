import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { hall, shortestOf } from "./hall.ts";
import { sidNav } from "./method.ts";
import { splOf, worthShowing } from "./ownDemonstrations.ts";

const attempt = (id: string, length: number, success: boolean): Trajectory =>
  trajectoryOf(
    id,
    Array.from({ length }, () => turnOf([1], [2])),
    { end: { kind: "done", reason: "over", success } },
  );

test("splOf: the share of the way that was needed; 0 for a failure", () => {
  assert.equal(splOf(attempt("a", 6, true), 3), 0.5);
  assert.equal(splOf(attempt("b", 3, true), 3), 1);
  assert.equal(splOf(attempt("c", 2, true), 3), 1); // no better than the shortest
  assert.equal(splOf(attempt("d", 3, false), 3), 0);
});

test("worthShowing: successes within c times the shortest way, shortest first", () => {
  const all = [
    attempt("a", 9, true),
    attempt("b", 10, true),
    attempt("c", 2, false),
    attempt("d", 4, true),
    attempt("e", 9, true),
  ];
  const ids = (best: number, longest = 3) => worthShowing(all, 3, { longest, best }).map(({ id }) => id);
  assert.deepEqual(ids(5), ["d", "a", "e"]); // 10 > 3 · 3
  assert.deepEqual(ids(2), ["d", "a"]);
  assert.deepEqual(ids(5, 1), []);
});

obeysTheLaws(() => hall({ doors: 5, turns: 10, tasks: 24 }), { garbage: 0.1 });

test("hall: the expert takes the shortest way", async () => {
  const environment = hall({ doors: 6, tasks: 30, seed: 3 });
  for (const task of environment.tasks("train")) {
    const goal = Number(task.metadata.goal);
    assert.equal(shortestOf(task), Math.abs(goal - Number(task.metadata.start)) + 1);
    const look = [{ role: "user" as const, content: `at d${goal} tried` }];
    assert.equal(environment.expert!(task, look, null as never), "look");
  }
});

test("first the expert, then own successes of at most c times its length", async () => {
  const environment = hall({ doors: 5, turns: 12, tasks: 10, seed: 2 });
  const shortest = new Map(environment.tasks("train").map((task) => [task.id, shortestOf(task)]));
  const rounds: string[] = [];
  await trainInMemory({
    environment,
    engine: tabularEngine({
      context: "message",
      prior: (_context, word) => (/^(left|right|look)$/.test(word) ? 0 : -1e9),
    }),
    method: sidNav.build({ tasks: 10, groupSize: 6, optimiser: "sgd", learningRate: 1 }, { best: 2 }),
    seed: 1,
    iterations: 8,
    onIteration: ({ experience: { trajectories, units } }) => {
      const byId = new Map(trajectories.map((t) => [t.id, t]));
      const kept = units.flatMap(({ members }) => members.map((id) => byId.get(id)!));
      rounds.push([...new Set(kept.map(({ origin }) => origin))].join());
      for (const t of kept) {
        assert.ok(succeeded(t));
        assert.ok(t.turns.length <= 3 * shortest.get(t.task)!);
      }
      for (const group of Map.groupBy(units, (unit) => unit.group).values()) assert.ok(group.length <= 2);
    },
  });
  assert.deepEqual(rounds, ["demonstrated", "demonstrated", ...Array.from({ length: 6 }, () => "sampled")]);
});
