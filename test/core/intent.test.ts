import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../src/core/errors.ts";
import type { Task } from "../../src/core/types.ts";
import { intentOf, slotsNamed } from "../../src/worlds/intent.ts";

const slots = { date: ["v0", "v1"], place: ["v0"] };
const task = (metadata: Task["metadata"]): Task => ({ id: "t", prompt: [], metadata, seed: 1 });

test("an intent is read from a task, and a task without one is said so", () => {
  const intent = { slots, goal: { date: "v1" }, missing: ["date"] };
  assert.deepEqual(intentOf(task({ ...intent, more: 1 })), intent);
  for (const metadata of [
    {},
    { ...intent, slots: ["date"] },
    { ...intent, goal: { date: 1 } },
    { ...intent, missing: null },
  ])
    assert.throws(
      () => intentOf(task(metadata)),
      (e: unknown) => isWhetstoneError(e) && e.code === "capability.missing",
    );
});

test("slots that a text names: each once, in its order, and nothing else", () => {
  const intent = { slots, goal: {}, missing: [] };
  assert.deepEqual(slotsNamed(intent, "ask place and date , the place"), ["place", "date"]);
  assert.deepEqual(slotsNamed(intent, "constructor dates"), []);
});
