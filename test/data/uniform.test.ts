import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { type UniformState, uniform } from "../../src/data/uniform.ts";
import { ctxOf } from "../core/make.ts";

const tasks: Task[] = Array.from({ length: 7 }, (_, i) => ({
  id: `t${i}`,
  prompt: [],
  metadata: {},
  seed: i,
}));

async function run(perIteration: number, iterations: number): Promise<string[][]> {
  const data = uniform({ tasks: perIteration });
  let state: UniformState = data.init(tasks);
  const chosen: string[][] = [];
  for (let i = 0; i < iterations; i++) {
    const { tasks: training, next } = await data.choose(ctxOf({ random: randomStream(1) }), tasks, state);
    state = JSON.parse(JSON.stringify(next)); // as a checkpoint would
    chosen.push(training.map((t) => t.id));
  }
  return chosen;
}

test("uniform: every task comes once before any comes again, and none twice in an iteration", async () => {
  const chosen = await run(3, 14);
  for (const training of chosen) assert.equal(new Set(training).size, 3);
  const all = chosen.flat();
  for (let pass = 0; pass < 6; pass++) assert.equal(new Set(all.slice(pass * 7, pass * 7 + 7)).size, 7);
  assert.notDeepEqual(all.slice(0, 7), all.slice(7, 14));
});

test("uniform: with fewer tasks than wanted, all of them", async () => {
  for (const training of await run(50, 3)) assert.equal(new Set(training).size, 7);
});
