import assert from "node:assert/strict";
import { test } from "node:test";
import { curveRanges } from "../../../src/serve/dashboard/ranges.ts";
import type { Curves } from "../../../src/serve/dashboard/types.ts";
import type { Extremes } from "../../../src/store/runStore.ts";
import { ran, run, world } from "./world.ts";

test("curves are thinned to the points that were asked for; gaps and what is no number are null", async (t) => {
  const { store, get, refused } = await world(t);
  await store.startRun(run("a"));
  for (let k = 0; k < 9; k++) {
    const metrics = { success: k === 4 ? Number.NaN : k / 8, ...(k % 4 === 0 && { kl: k }) };
    await store.saveIteration("a", k, { metrics, trajectories: [] });
  }
  const asked = "/api/runs/a/curves?names=success,kl,nothing";
  assert.deepEqual(await get<Curves>(`${asked}&points=5`), {
    iteration: [0, 2, 4, 6, 8],
    values: {
      success: [0, 0.25, null, 0.75, 1],
      kl: [0, null, 4, null, 8],
      nothing: new Array(5).fill(null),
    },
  });
  const part = await get<Curves>(`${asked}&from=3&until=6`);
  assert.deepEqual(
    [part.iteration, part.values.success],
    [
      [3, 4, 5],
      [0.375, null, 0.625],
    ],
  );
  assert.equal((await refused(`${asked}&points=1`)).status, 400);
  assert.equal((await refused("/api/runs/a/curves")).status, 400);
});

test("a spike between two points is in the range of the first", async (t) => {
  const { store, get } = await world(t);
  // 0, 0, …, with 7 at iteration 13 and -7 at iteration 30
  await ran(store, "a", 40, (k) => (k === 13 ? 7 : k === 30 ? -7 : 0));
  const { iteration, values, ranges } = await get<Curves>(
    "/api/runs/a/curves?names=success,nothing&points=5&ranges=true",
  );
  assert.deepEqual(iteration, [0, 10, 20, 29, 39]);
  assert.deepEqual(values.success, [0, 0, 0, 0, 0]);
  // 8 iterations a point: blocks of 8 begin at 0, 8, 16, 24, 32, and belong to the last point before them
  assert.deepEqual(ranges?.success?.high, [7, 0, 0, 0, null]);
  assert.deepEqual(ranges?.success?.low, [0, 0, -7, 0, null]);
  assert.deepEqual(ranges?.nothing?.low, new Array(5).fill(null));
  // closer: 4 iterations a point, read as they are
  const near = await get<Curves>("/api/runs/a/curves?names=success&points=5&from=8&until=28&ranges=true");
  assert.deepEqual(near.iteration, [8, 13, 18, 22, 27]);
  assert.deepEqual(near.ranges?.success?.high, [7, 0, 0, 0, null]);
});

test("a run is read once, then only what it has written since; one that was set back is read anew", async () => {
  const read: [from: number, until: number][] = [];
  const value = (k: number): number => k % 100;
  const rangesOf = curveRanges({
    async extremes(_, width, { from, until }) {
      read.push([from, until]);
      const found: Extremes[] = [];
      for (let block = Math.floor(from / width); block * width < until; block++) {
        const inside = Array.from({ length: width }, (_, i) => value(block * width + i));
        found.push({ block, name: "a", low: Math.min(...inside), high: Math.max(...inside) });
      }
      return found;
    },
  });
  const at = Array.from({ length: 20 }, (_, i) => 105 * i);
  const whole = { from: 0, until: Number.MAX_SAFE_INTEGER };
  const first = await rangesOf("r", 2100, ["a"], at, whole);
  // every hundred iterations hold a 0 and a 99
  assert.deepEqual(first.a?.high, new Array(20).fill(99));
  assert.deepEqual(first.a?.low.slice(0, 19), new Array(19).fill(0));
  // 2,100 are 262 full blocks of 8, and 4 iterations more
  assert.deepEqual(read.splice(0), [
    [0, 1024],
    [1024, 2048],
    [2048, 2096],
    [2096, 2100],
  ]);
  await rangesOf("r", 2107, ["a"], at, whole);
  assert.deepEqual(read.splice(0), [
    [2096, 2104],
    [2104, 2107],
  ]);
  await rangesOf("r", 1000, ["a"], at.slice(0, 9), whole);
  assert.deepEqual(read.splice(0), [[0, 1000]]);
});
