import assert from "node:assert/strict";
import { test } from "node:test";
import { taskOrders, trainedTasksIn } from "../../src/diagnose/tasks.ts";
import type { TaskBlock } from "../../src/store/runStore.ts";

const played = (
  block: number,
  task: string,
  successes: number,
  more: Partial<TaskBlock> = {},
): TaskBlock => ({
  block,
  task,
  role: "agent",
  episodes: 8,
  rated: 8,
  successes,
  reward: successes / 8,
  groups: 1,
  dead: successes === 0 || successes === 8 ? 1 : 0,
  ...more,
});

test("a task stands by its last sixteen episodes, and the frontier moves", () => {
  const rows = [
    played(0, "easy", 4),
    played(0, "hard", 0),
    played(1, "easy", 8),
    played(1, "middle", 3),
    played(2, "easy", 8),
    played(2, "hard", 0),
    played(2, "odd", 1, { episodes: 2, rated: 2 }),
  ];
  const { tasks, frontier } = trainedTasksIn(rows, new Map([["easy", "What is 1 + 1?"]]), 5, 13);
  const [easy, hard, middle, odd] = tasks;
  assert.deepEqual(
    tasks.map(({ task, standing }) => [task, standing]),
    [
      ["easy", "solved"],
      ["hard", "unsolved"],
      ["middle", "frontier"],
      ["odd", "new"],
    ],
  );
  // lately 16 of 16, before that 4 of 8
  assert.deepEqual([easy!.recent.mean, easy!.recent.n, easy!.change], [1, 16, 0.5]);
  assert.deepEqual([easy!.asked, easy!.episodes, easy!.groups, easy!.dead], ["What is 1 + 1?", 24, 3, 2]);
  assert.deepEqual([easy!.first, easy!.last], [0, 12]); // the third block of five ends with the run
  assert.deepEqual(easy!.shares, { 0: 0.5, 1: 1, 2: 1 });
  assert.ok(Number.isNaN(hard!.change) && Number.isNaN(middle!.change) && Number.isNaN(odd!.change));
  assert.deepEqual(
    frontier.map(({ iteration, unsolved, frontier: on, solved, new: fresh, dead }) => [
      iteration,
      unsolved,
      on,
      solved,
      fresh,
      dead,
    ]),
    [
      [4, 1, 1, 0, 0, 1 / 2],
      [9, 1, 2, 0, 0, 1 / 2], // 12 of 16 for the easy one
      [12, 1, 1, 1, 1, 2 / 3],
    ],
  );
});

test("without verdicts, a task has none; every role of a game is a row of its own", () => {
  const silent = { rated: 0, successes: 0 };
  const rows = [
    played(0, "t", 0, { ...silent, role: "a" }),
    played(0, "t", 0, { ...silent, role: "b" }),
    played(1, "t", 0, { ...silent, role: "a", reward: 0.3 }),
  ];
  const { tasks } = trainedTasksIn(rows, new Map(), 1, 2);
  assert.deepEqual(
    tasks.map(({ role, standing, reward }) => [role, standing, reward]),
    [
      ["a", "unrated", 0.3],
      ["b", "new", 0],
    ],
  );
  assert.ok(Number.isNaN(tasks[0]!.recent.mean));
});

test("tasks are ordered by what is hard, what rose, what was last and what had most episodes", () => {
  const rows = [
    played(0, "a", 8),
    played(0, "b", 0, { episodes: 16, rated: 16 }),
    played(1, "a", 8),
    played(1, "b", 16, { episodes: 16, rated: 16 }),
    played(2, "c", 0, { rated: 0 }),
    played(2, "a", 8),
  ];
  const { tasks } = trainedTasksIn(rows, new Map(), 1, 3);
  const by = (order: keyof typeof taskOrders): string =>
    tasks
      .toSorted(taskOrders[order])
      .map(({ task }) => task)
      .join("");
  assert.equal(by("hardest"), "bac"); // equal success: the one with more episodes
  assert.equal(by("progress"), "bac");
  assert.equal(by("latest"), "cab");
  assert.equal(by("most"), "bac");
});
