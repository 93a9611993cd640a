import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { reserved } from "../../src/data/reserved.ts";
import { uniform } from "../../src/data/uniform.ts";

const tasks = Array.from({ length: 10 }, (_, i) => ({ id: `t${i}`, prompt: [], metadata: {}, seed: i }));
const clock = { iteration: 0, phase: "train", step: 0 };

test("heldBack: the same tasks stand last in every iteration and are never practised", () => {
  const data = reserved(uniform({ tasks: 3 }), { tasks: 4 });
  let state = data.init(tasks);
  const practised = new Set<string>();
  const held = new Set<string>();
  for (let i = 0; i < 6; i++) {
    const { practice, next } = data.choose(tasks, state, randomStream(1).split(i), clock);
    state = next;
    assert.equal(practice.length, 3 + 4);
    for (const { id } of practice.slice(0, 3)) practised.add(id);
    held.add(
      practice
        .slice(3)
        .map(({ id }) => id)
        .join(),
    );
  }
  assert.equal(held.size, 1, "one order");
  const kept = [...held][0]!.split(",");
  assert.equal(practised.size, 6, "all of the rest come");
  assert.ok(kept.every((id) => !practised.has(id)));
});

test("heldBack: at most half of all tasks", () => {
  const data = reserved(uniform({ tasks: 3 }), { tasks: 40 });
  const { practice } = data.choose(tasks, data.init(tasks), randomStream(1), clock);
  assert.equal(practice.length, 3 + 5);
});
