import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { gridMoves, gridworld, type Move } from "./gridworld.ts";

obeysTheLaws(() => gridworld(), { garbage: 0.4 });

const walk = (moves: readonly string[]): Trajectory =>
  trajectoryOf(
    "walk",
    moves.map((content) => turnOf([1], [2], { action: { role: "assistant", content } })),
  );
/** Cells in a row without a wall: 0, 1, 2 (top) and 3 to 8 below; the goal is cell 8. */
const open = gridworld({ side: 3, walls: 0, turns: 4 });
const from = (cell: number): Task => open.tasks("train").find((t) => t.metadata.start === cell)!;
const p = async (criterion: "regret" | "return", task: Task, a: readonly string[], b: readonly string[]) =>
  gridworld({ side: 3, walls: 0, turns: 4, criterion }).prefer!(task, walk(a), walk(b));

test("gridworld: moves, edges, and the goal that nobody leaves", () => {
  assert.equal(open.next(0, "east"), 1);
  assert.equal(open.next(0, "north"), 0);
  assert.equal(open.next(5, "south"), 8);
  assert.equal(open.goal, 8);
  for (const move of gridMoves) assert.equal(open.next(8, move), 8);
});

test("gridworld: both criteria prefer the shorter way, and swapped they say the opposite", async () => {
  const [short, long] = [
    ["east", "south", "north", "north"],
    ["west", "west", "east", "south"],
  ] as const;
  for (const criterion of ["regret", "return"] as const) {
    const forward = await p(criterion, from(4), short, long);
    assert.ok(forward > 0.5);
    assert.ok(Math.abs(forward + (await p(criterion, from(4), long, short)) - 1) < 1e-12);
  }
});

test("gridworld: by return two walks that never arrive are alike, by regret the one towards the goal is better", async () => {
  const [near, away] = [
    ["east", "east", "north", "north"],
    ["north", "west", "north", "west"],
  ];
  assert.equal(await p("return", from(0), near!, away!), 0.5);
  assert.ok((await p("regret", from(0), near!, away!)) > 0.7);
});

test("gridworld: returns are discounted by hand", async () => {
  // from cell 4 the goal is reached at the second move (0.95), or at the fourth (0.95³); temperature 0.1
  const late: Move[] = ["west", "east", "east", "south"];
  const got = await p("return", from(4), ["east", "south", "east", "east"], late);
  assert.ok(Math.abs(got - 1 / (1 + Math.exp(-(0.95 - 0.95 ** 3) / 0.1))) < 1e-9);
});

test("gridworld: with walls every free cell still reaches the goal", () => {
  for (const seed of [1, 2, 3, 4, 5]) assert.equal(gridworld({ seed }).cells.length, 29);
});
