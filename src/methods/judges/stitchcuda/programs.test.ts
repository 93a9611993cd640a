import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { programs, ways } from "./programs.ts";

obeysTheLaws(() => programs(1), { garbage: 0.4 });

test("programs: half of the faster ways are right, and a program is worth ½ and a quarter of its speedup", () => {
  const world = programs(3, 200);
  const tasks = world.tasks("train");
  for (const task of tasks) assert.equal(world.worthOf(task, "plain plain plain"), 0.5);
  const fused = tasks.filter((task) => world.worthOf(task, "fused plain plain") > 0);
  assert.ok(Math.abs(fused.length / 200 - 0.5) < 0.11, `${fused.length}`); // deviation 0.035
  assert.ok(Math.abs(world.worthOf(fused[0]!, "fused plain plain") - 0.6) < 1e-12);
  for (const reply of [
    "lookup plain plain",
    "broken plain plain",
    "plain plain",
    "plain plain plain plain",
    "x",
  ])
    assert.equal(world.worthOf(tasks[0]!, reply), 0);
});

test("programs: tests pass a table of results, the veto sees nine of ten", async () => {
  const world = programs(1);
  const task = world.tasks("train")[0]!;
  const episode = await world.start(task, randomStream(1));
  const { rewards } = await episode.act({ content: "lookup plain plain", stop: "eos" });
  assert.deepEqual(rewards, { compiled: 1, correct: 1, speedup: 0.9 });
  const trajectory = trajectoryOf("t", [
    turnOf([1], [2], { action: { role: "assistant", content: "lookup plain plain" } }),
  ]);
  let passed = 0;
  for (let i = 0; i < 400; i++) {
    const said = await world.veto.score([{ task, trajectory }], { random: randomStream(1).split("veto", i) });
    passed += said![0]!.score!;
  }
  assert.ok(passed > 20 && passed < 62, `${passed} of 400`); // 40 expected, deviation 6
  assert.equal(ways.length, 5);
});
