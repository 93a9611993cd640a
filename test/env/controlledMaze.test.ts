import assert from "node:assert/strict";
import { test } from "node:test";
import { controlledMaze } from "../../src/env/controlledMaze.ts";
import type { Direction } from "../../src/env/grids.ts";
import { waysFrom } from "../../src/env/mazes/levels.ts";
import { obeysTheLaws } from "./laws.ts";
import { isSuccess, play } from "./play.ts";

obeysTheLaws(() => controlledMaze({ shape: "steps", perLevel: 4 }), { garbage: 0.1, flawed: [0.1, 0.7] });
obeysTheLaws(() => controlledMaze({ perLevel: 4, loops: 6 }), { garbage: 0.1, flawed: [0.1, 0.8] });

/**
 * Three by three, all open but the middle, which leads nowhere:
 *
 *     0 1 2        from 0: cell 8 is 4 moves away (by 2 or by 6), with 1 turn
 *     3 · 5        cell 5: by 1, 2: 3 moves and 1 turn
 *     6 7 8
 */
const ring: readonly (readonly Direction[])[] = [
  ["east", "south"],
  ["east", "west"],
  ["south", "west"],
  ["north", "south"],
  [],
  ["north", "south"],
  ["north", "east"],
  ["east", "west"],
  ["north", "west"],
];

test("waysFrom: moves of a shortest way and the fewest turns on one", () => {
  const ways = waysFrom({ side: 3, open: ring }, 0);
  assert.deepEqual(ways[0], { path: 0, turns: 0 });
  assert.deepEqual(ways[2], { path: 2, turns: 0 });
  assert.deepEqual(ways[5], { path: 3, turns: 1 });
  assert.deepEqual(ways[8], { path: 4, turns: 1 });
  assert.equal(ways[4]!.path, Number.POSITIVE_INFINITY);
});

test("controlledMaze: turns are a knob of their own at one length", () => {
  const make = (turns: readonly [number, number]) =>
    controlledMaze({ perLevel: 5, levels: [{ side: 5, path: [6, 6], turns }] }).tasks("train");
  for (const { metadata } of make([1, 2])) assert.ok(metadata.path === 6 && Number(metadata.turns) <= 2);
  for (const { metadata } of make([4, 5])) assert.ok(metadata.path === 6 && Number(metadata.turns) >= 4);
  assert.throws(() => make([9, 9]), /9–9 turns/); // six moves turn at most five times
});

test("controlledMaze: another way than the shortest is right, a wall is not, and what follows the goal is ignored", async () => {
  const environment = controlledMaze({ perLevel: 1, levels: [{ side: 3, path: [1, 8] }] });
  const [task] = environment.tasks("train");
  const ringed = {
    ...task!,
    metadata: { ...task!.metadata, side: 3, start: 0, goal: 2, open: ring.map((o) => [...o]) },
  };
  const tried = async (route: string) => play(environment, ringed, () => route);
  assert.ok(isSuccess(await tried("east east")));
  assert.ok(isSuccess(await tried("south south east east north north")));
  assert.ok(isSuccess(await tried("east east north")));
  const wall = await tried("east south");
  assert.deepEqual([isSuccess(wall), wall.texts], [false, ["a wall is in the way after 1 moves"]]);
  assert.deepEqual((await tried("east")).texts, ["still not there after 1 moves"]);
  assert.deepEqual((await tried("east up")).texts, ["no move after 1 moves"]);
});
