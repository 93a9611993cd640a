import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task } from "../../src/core/types.ts";
import { asProposed } from "../../src/data/proposed.ts";

const given: Task = {
  id: "g0",
  prompt: [
    { role: "system", content: "rules" },
    { role: "user", content: "v1 o2" },
  ],
  reference: "secret",
  metadata: { site: 7 },
  seed: 3,
};

test("a proposal keeps where a task starts, and has a text, an id and a seed of its own, and no reference", () => {
  const made = asProposed(given, "v0 o9", "proposed/5/0");
  assert.equal(made.id, "proposed/5/0");
  assert.deepEqual(made.prompt, [given.prompt[0], { role: "user", content: "v0 o9" }]);
  assert.deepEqual(made.metadata, { site: 7, proposed: true });
  assert.ok(!("reference" in made));
  assert.notEqual(made.seed, given.seed);
});

test("a proposer's own answer is the reference", () => {
  assert.equal(asProposed(given, "v0 o9", "proposed/5/0", "o9").reference, "o9");
});
