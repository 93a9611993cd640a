import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { remembered, tuneArms, tuningSeedsFor, type Unit } from "../../src/train/experiment.ts";
import { temporary } from "../temporary.ts";

const memoryIn = (): string =>
  join(mkdtempSync(join(temporary, "whetstone-experiment-")), "inner", "runs.jsonl");
const units = [1, 2, 3, 4].map((seed): Unit => ({ arm: "one", choice: 0, seed }));

test("a run is made once; half a line at the end of the memory is made again; numbers come back exactly", async () => {
  const memory = memoryIn();
  const made: number[] = [];
  const make = async ({ seed }: Unit): Promise<number> => {
    made.push(seed);
    return seed === 1 ? Number.NaN : 0.1 * seed;
  };
  const first = await remembered({ make, memory })(units.slice(0, 2));
  assert.deepEqual(first, [Number.NaN, 0.2]);
  appendFileSync(memory, readFileSync(memory, "utf8").slice(0, 20));
  const told: [number, boolean][] = [];
  const onResult = (unit: Unit, _: number, again: boolean): void => void told.push([unit.seed, again]);
  // the half line is not the beginning of the next one
  const again = await remembered({ make, memory, onResult, atOnce: 1 })(units);
  assert.deepEqual(again, [Number.NaN, 0.2, 0.1 * 3, 0.4]);
  assert.deepEqual(made, [1, 2, 3, 4]);
  assert.deepEqual(told, [
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ]);
  assert.deepEqual(await remembered({ make, memory })(units), again);
  assert.deepEqual(made, [1, 2, 3, 4]);
});

test("no more runs at once than asked for, and none is begun after one has failed; those made are kept", async () => {
  const memory = memoryIn();
  let [now, most] = [0, 0];
  const began: number[] = [];
  const make = async ({ seed }: Unit): Promise<number> => {
    began.push(seed);
    most = Math.max(most, ++now);
    await new Promise((go) => setTimeout(go, 5));
    now--;
    if (seed === 3) throw new Error("out of order");
    return seed;
  };
  await assert.rejects(
    remembered({ make, memory, atOnce: 2 })([...units, ...units.map((u) => ({ ...u, choice: 1 }))]),
    /out of order/,
  );
  await new Promise((go) => setTimeout(go, 20));
  assert.equal(most, 2);
  assert.deepEqual(began, [1, 2, 3, 4]);
  assert.deepEqual(await remembered({ make, memory })(units.slice(0, 2)), [1, 2]);
  assert.deepEqual(began, [1, 2, 3, 4]);
});

test("each arm gets the best of its choices on seeds apart; what is not finite is worth nothing", async () => {
  const asked: Unit[] = [];
  const values: Record<string, readonly number[]> = {
    first: [Number.NaN, 1, 2],
    second: [5, 5, 4],
    only: [1],
  };
  const make = async (some: readonly Unit[]): Promise<readonly number[]> => {
    asked.push(...some);
    return some.map(({ arm, choice }) => values[arm]![choice]!);
  };
  const sizes = new Map(Object.entries(values).map(([arm, { length }]) => [arm, length]));
  const high = await tuneArms(sizes, tuningSeedsFor(2), (x) => x, make);
  assert.deepEqual(
    [...high.values()].map(({ at }) => at),
    [2, 0, 0],
  );
  assert.deepEqual(high.get("first")!.means, [Number.NaN, 1, 2]);
  assert.deepEqual(high.get("only")!.means, []);
  assert.equal(asked.length, 2 * 6);
  assert.ok(asked.every(({ seed }) => seed >= 1e6));
  const low = await tuneArms(sizes, tuningSeedsFor(2), (x) => x, make, "lower");
  assert.deepEqual(
    [...low.values()].map(({ at }) => at),
    [1, 2, 0],
  );
});
