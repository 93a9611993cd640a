import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { crossroads, waysOf } from "./crossroads.ts";

obeysTheLaws(() => crossroads(), { garbage: 0.05 });

const environment = crossroads({ days: 30, steps: 3 });
const days = environment.tasks("train");
const walk = async (task: Task, content: string) =>
  (await environment.start(task, randomStream(1))).act({ content, stop: "eos" });

test("either road leads home on its own way, and the way of the road taken is told", async () => {
  for (const task of days.slice(0, 5)) {
    for (const road of ["ridge", "valley"]) {
      const way = waysOf(task)[road]!.join(" ");
      const home = await walk(task, `${road} ${way}`);
      assert.deepEqual([home.rewards, home.text], [{ outcome: 1 }, `way ${way}`]);
      const lost = await walk(task, `${road} ${way} d0`);
      assert.deepEqual([lost.rewards, lost.text], [{ outcome: 0 }, `way ${way}`]);
    }
    for (const nowhere of ["", "constructor d0", "d0 d1"]) {
      const { rewards, text } = await walk(task, nowhere);
      assert.deepEqual([rewards, text], [{ outcome: 0 }, undefined]);
    }
  }
});

test("days look alike, one way stays, and the other takes every direction as often", () => {
  const all = [...days, ...environment.tasks("test")];
  assert.equal(new Set(all.map(({ prompt }) => prompt[0]!.content)).size, 1);
  assert.equal(new Set(all.map((task) => waysOf(task).ridge!.join(" "))).size, 1);
  const taken = all.flatMap((task) => waysOf(task).valley!);
  for (const direction of ["d0", "d1", "d2", "d3"]) {
    // 180 steps, 45 expected, deviation √(180 · 3/16) = 5.8
    const count = taken.filter((step) => step === direction).length;
    assert.ok(Math.abs(count - 45) < 4 * 5.8, `${direction}: ${count}`);
  }
});
