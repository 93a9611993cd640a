import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task } from "../../src/core/types.ts";
import { formatsOf, originalOf, posed } from "../../src/data/variants.ts";
import { ctxOf } from "../core/make.ts";

const task: Task = {
  id: "t",
  prompt: [],
  reference: "a",
  metadata: { formats: ["yes or no", "open"] },
  seed: 3,
};

test("posed: an easier format is a new task with its own seed by visit, which remembers its original", () => {
  const easier = posed(task, "yes or no", 2);
  assert.equal(easier.id, "t#yes-or-no#2");
  assert.equal(easier.reference, "a");
  assert.deepEqual(easier.metadata, { formats: ["yes or no", "open"], format: "yes or no", variantOf: "t" });
  assert.notEqual(easier.seed, posed(task, "yes or no", 3).seed);
  assert.deepEqual(easier, posed(task, "yes or no", 2));
  const ctx = ctxOf({ task: (id) => (id === easier.id ? easier : task) });
  assert.equal(originalOf(ctx, easier.id), "t");
  assert.equal(originalOf(ctx, "t"), "t");
});

test("posed: the last format, one that the task lacks, and a task without formats are the task itself", () => {
  assert.equal(posed(task, "open", 0), task);
  assert.equal(posed(task, "ten choice", 0), task);
  const plain = { ...task, metadata: {} };
  assert.equal(posed(plain, "open", 0), plain);
  assert.deepEqual(formatsOf(plain), []);
});
