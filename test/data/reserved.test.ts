import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { reserved } from "../../src/data/reserved.ts";
import { uniform } from "../../src/data/uniform.ts";
import { ctxOf } from "../core/make.ts";

const tasks = Array.from({ length: 10 }, (_, i) => ({ id: `t${i}`, prompt: [], metadata: {}, seed: i }));

test("reserved: the same tasks stand last in every iteration and are never trained on", async () => {
  const data = reserved(uniform({ tasks: 3 }), { tasks: 4 });
  let state = data.init(tasks);
  const trained = new Set<string>();
  const held = new Set<string>();
  for (let i = 0; i < 6; i++) {
    const { tasks: training, next } = await data.choose(
      ctxOf({ random: randomStream(1).split(i) }),
      tasks,
      state,
    );
    state = next;
    assert.equal(training.length, 3 + 4);
    for (const { id } of training.slice(0, 3)) trained.add(id);
    held.add(
      training
        .slice(3)
        .map(({ id }) => id)
        .join(),
    );
  }
  assert.equal(held.size, 1, "one order");
  const kept = [...held][0]!.split(",");
  assert.equal(trained.size, 6, "all of the rest come");
  assert.ok(kept.every((id) => !trained.has(id)));
});

test("reserved: at most half of all tasks", async () => {
  const data = reserved(uniform({ tasks: 3 }), { tasks: 40 });
  const { tasks: training } = await data.choose(ctxOf({ random: randomStream(1) }), tasks, data.init(tasks));
  assert.equal(training.length, 3 + 5);
});
