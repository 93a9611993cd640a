import assert from "node:assert/strict";
import { test } from "node:test";
import { leaveOneOut } from "../../src/advantage/leaveOneOut.ts";
import type { Model, StepRule } from "../../src/core/model.ts";
import { randomStream } from "../../src/core/random.ts";
import { benchmark, diagnostic } from "../../src/method/entry.ts";
import { method } from "../../src/method/method.ts";
import { defaultSettings, type Settings } from "../../src/method/settings.ts";
import { catalogue, findEntry, findMethod, methods } from "../../src/methods/catalogue.ts";
import { likelihood } from "../../src/objective/likelihood.ts";
import { policyGradient } from "../../src/objective/policyGradient.ts";
import { suites } from "../../src/suite/index.ts";
import { batchOfRows, ctxOf, evidenceOf } from "../core/make.ts";

test("every method of the catalogue builds, and says what differs", () => {
  assert.equal(new Set(catalogue.map((m) => m.id)).size, catalogue.length);
  for (const { id, summary } of catalogue) assert.ok(summary.length <= 100, id);
  for (const recipe of methods) {
    const { slots } = recipe.build();
    assert.ok(
      slots.objective.length > 0 || recipe.differs.includes("update"),
      `${recipe.id} learns by nothing`,
    );
  }
  assert.deepEqual(findMethod("grpo").differs, []);
  assert.deepEqual(findMethod("rloo").differs, ["advantage", "objective"]);
});

test("method fills in from the baseline; one piece or a list", () => {
  const one = method({ id: "m", family: "f", summary: "s", slots: { advantage: leaveOneOut() } }).build();
  assert.deepEqual(
    one.slots.advantage.map((a) => a.name),
    ["leaveOneOut"],
  );
  assert.deepEqual(
    one.slots.objective.map((o) => o.name),
    ["clippedRatio"],
  );
  const two = method({
    id: "m",
    family: "f",
    summary: "s",
    slots: { objective: [policyGradient(), likelihood()] },
  }).build();
  assert.deepEqual(
    two.slots.objective.map((o) => o.name),
    ["policyGradient", "likelihood"],
  );
});

test("a run's settings reach the pieces of a method, over its own defaults", () => {
  const seen: Settings[] = [];
  const recipe = method({
    id: "m",
    family: "f",
    summary: "s",
    defaults: { epochs: 4 },
    slots: (settings) => {
      seen.push(settings);
      return {};
    },
  });
  recipe.build({ learningRate: 0.1 });
  assert.deepEqual(seen.at(-1), { ...defaultSettings, epochs: 4, learningRate: 0.1 });
});

test("what trains nothing stands in the catalogue with its law, and is no method", () => {
  const about = { id: "d", family: "f", summary: "s", law: "what falls is heavy" };
  assert.deepEqual(diagnostic(about), { ...about, kind: "diagnostic" });
  assert.deepEqual(benchmark({ ...about, suite: "s" }), { ...about, suite: "s", kind: "benchmark" });
  assert.equal(findMethod("grpo").kind, "method");
  const refusals = {
    diagnostic: /a diagnostic, which trains nothing.*whetstone check /,
    benchmark: /a benchmark.*whetstone eval --suite /,
  };
  for (const { id, kind } of catalogue) {
    assert.equal(
      methods.some((m) => m.id === id),
      kind === "method",
    );
    if (kind === "method") continue;
    assert.equal(findEntry(id).kind, kind);
    assert.throws(() => findMethod(id, "--method"), refusals[kind]);
    assert.throws(() => findEntry(`${id}x`), new RegExp(`Did you mean ${id}`));
  }
});

test("a benchmark names a suite that exists", () => {
  for (const entry of catalogue)
    if (entry.kind === "benchmark") assert.ok(suites.some(({ name }) => name === entry.suite));
});

test("wrong settings and names are refused with what was meant", () => {
  const slip: object = { learningrate: 1 };
  assert.throws(() => findMethod("grpo").build(slip), /Did you mean learningRate/);
  assert.throws(() => findMethod("grpo").build({ groupSize: 1.5 }), /a whole number from 1/);
  assert.throws(() => findMethod("grpoo"), /Did you mean grpo/);
});

test("plain descent can be asked for, and reaches the step", async () => {
  const rules: StepRule[] = [];
  const model: Pick<Model, "accumulate" | "score" | "step"> = {
    accumulate: async () => ({}),
    score: async () => ({ logp: new Float32Array(), heads: {} }),
    step: async (rule) => {
      rules.push(rule);
      return { gradientNorm: 0 };
    },
  };
  const batch = batchOfRows([{ behaviour: [-1], advantage: [1] }]);
  for (const optimiser of ["adamw", "sgd"] as const) {
    const { update, objective } = findMethod("grpo").build({ optimiser }).slots;
    const ctx = ctxOf({ model: () => model as Model, random: randomStream(1) });
    await update(ctx, batch, objective, evidenceOf([]));
  }
  assert.deepEqual(
    rules.map((rule) => rule.optimiser),
    ["adamw", "sgd"],
  );
  const unknown: object = { optimiser: "lion" };
  assert.throws(() => findMethod("grpo").build(unknown), /one of adamw, sgd/);
});
