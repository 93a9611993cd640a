import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf } from "../../../../test/core/make.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { uniform } from "../../../data/uniform.ts";
import { filtered } from "./filtered.ts";

const tasks = Array.from({ length: 6 }, (_, i): Task => ({ id: `${i}`, prompt: [], metadata: {}, seed: i }));
const even = (task: Task): boolean => Number(task.id) % 2 === 0;

test("filtered: the curriculum inside sees no other tasks, pass after pass", async () => {
  const data = filtered("even", even, uniform({ tasks: 2 }));
  let state = data.init(tasks);
  const seen: string[] = [];
  for (let i = 0; i < 6; i++) {
    const { tasks: training, next } = await data.choose(ctxOf({ random: randomStream(1) }), tasks, state);
    seen.push(...training.map(({ id }) => id));
    state = next;
  }
  assert.deepEqual(
    ["0", "2", "4"].map((id) => seen.filter((other) => other === id).length),
    [4, 4, 4],
  );
  assert.notEqual(data.name, uniform().name, "its state is its own");
});

test("filtered: where nothing is kept, everything is", async () => {
  const data = filtered("none", () => false, uniform({ tasks: 9 }));
  const ctx = ctxOf({ random: randomStream(1) });
  assert.equal((await data.choose(ctx, tasks, data.init(tasks))).tasks.length, 6);
});
