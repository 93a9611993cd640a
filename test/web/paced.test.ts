import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as soon } from "node:timers/promises";
import { paced } from "../../web/src/parts/paced.ts";

function worker(t: TestContext, took: number, pace: Parameters<typeof paced>[1]) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  let done = 0;
  const ask = paced(async () => {
    now += took;
    done++;
  }, pace);
  const pass = async (ms: number): Promise<number> => {
    await soon();
    t.mock.timers.tick(ms);
    await soon();
    return done;
  };
  return { ask, pass };
}

test("work of 20 ms, 150 times as long a pause: again after 3 s, once for many that ask", async (t) => {
  const { ask, pass } = worker(t, 20, { least: 1000, most: 10_000, times: 150 });
  ask();
  assert.equal(await pass(0), 1, "at once");
  for (let i = 0; i < 5; i++) ask();
  assert.equal(await pass(2999), 1);
  assert.equal(await pass(1), 2, "what was asked for within the pause");
  assert.equal(await pass(10_000), 2, "nobody asked again");
  ask();
  assert.equal(await pass(0), 3, "at once after a rest");
});

test("the pause is never shorter or longer than it may be", async (t) => {
  const { ask, pass } = worker(t, 1, { least: 1000, most: 10_000, times: 150 });
  ask();
  await pass(0);
  ask();
  assert.deepEqual([await pass(999), await pass(1)], [1, 2]);
});

test("long work makes no page stand still for good", async (t) => {
  const { ask, pass } = worker(t, 5000, { least: 1000, most: 10_000, times: 150 });
  ask();
  await pass(0);
  ask();
  assert.deepEqual([await pass(9999), await pass(1)], [1, 2]);
});
