import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../src/core/batch.ts";
import type { Model, StepRule } from "../../src/core/model.ts";
import type { Objective } from "../../src/core/objective.ts";
import { randomStream } from "../../src/core/random.ts";
import { minibatches, scheduled } from "../../src/update/minibatches.ts";
import { batchOfRows, ctxOf, evidenceOf } from "../core/make.ts";

const spec = (group: string) => ({ behaviour: [-1, -2], advantage: [1, 1], group });
const batch = batchOfRows(["a", "b", "a", "c", "b", "d"].map(spec));

/** A model that writes down what it is asked. */
function recorder(id = "policy") {
  const seen: {
    kind: "accumulate" | "step";
    rows?: string[];
    rule?: StepRule;
    columns?: string[];
    index?: number[];
  }[] = [];
  const model: Partial<Model> = {
    id,
    accumulate: async (part: Batch, objective: Objective<never>, aux: never) => {
      const index = [...part.index_A];
      seen.push({
        kind: "accumulate",
        rows: part.rows.map((r) => r.trajectory),
        columns: Object.keys(part.columns),
        index,
      });
      return objective.evaluate({ logp: part.behaviour_A, heads: {} }, part, aux).stats;
    },
    step: async (rule) => {
      seen.push({ kind: "step", rule });
      return { gradientNorm: 2 };
    },
  };
  return { seen, model: model as Model };
}

const counting: Objective<number> = {
  name: "counting",
  together: "row",
  wants: () => ({}),
  columns: async (_ctx, whole) => ({ fixed: whole.behaviour_A }),
  prepare: async (_ctx, part) => part.target_A.length,
  evaluate: (_outputs, part) => ({
    loss: 1,
    cotangents: {},
    stats: { loss: 1, tokens: part.target_A.length, "x/tokens": 3 * part.target_A.length },
  }),
};

test("minibatches: whole groups, every row once per epoch, columns fixed before the first step", async () => {
  const { seen, model } = recorder();
  let trained = 0;
  const ctx = ctxOf({
    model: () => model,
    random: randomStream(1),
    count: (_name, n) => {
      trained += n;
    },
  });
  const stats = await minibatches({ epochs: 2, minibatches: 2, step: { learningRate: 0.5 } })(
    ctx,
    batch,
    [counting],
    evidenceOf([]),
  );
  assert.deepEqual(
    seen.map((s) => s.kind),
    ["accumulate", "step", "accumulate", "step", "accumulate", "step", "accumulate", "step"],
  );
  const parts = seen.flatMap((s) => (s.rows ? [s.rows] : []));
  for (const epoch of [parts.slice(0, 2), parts.slice(2)]) {
    assert.deepEqual(epoch.flat().toSorted(), ["t0", "t1", "t2", "t3", "t4", "t5"]);
    for (const part of epoch) assert.equal(part.includes("t0"), part.includes("t2"));
  }
  assert.ok(seen.every((s) => s.kind === "step" || s.columns?.includes("fixed")));
  assert.ok(seen.every((s) => s.index?.every((x, a) => x === a) ?? true));
  assert.equal(trained, 24);
  assert.deepEqual(stats, {
    steps: 4,
    learningRate: 0.5,
    gradientNorm: 2,
    "counting.loss": 1,
    "counting.tokens": 24,
    "counting.x": 3,
  });
});

test("minibatches: each row trains the model that acted in it; an objective may name another", async () => {
  const mixed = {
    ...batch,
    rows: batch.rows.map((r, i) => ({ ...r, model: i % 2 === 0 ? "white" : "black" })),
  };
  const made = new Map(["white", "black", "critic"].map((id) => [id, recorder(id)]));
  const ctx = ctxOf({ model: (id = "policy") => made.get(id)!.model, random: randomStream(1) });
  const critic = { ...counting, name: "critic", model: "critic" };
  const update = minibatches({ step: { learningRate: 1 }, rates: { critic: 3 } });
  await update(ctx, mixed, [counting, critic], evidenceOf([]));
  assert.deepEqual(made.get("white")!.seen[0]!.rows, ["t0", "t2", "t4"]);
  assert.deepEqual(made.get("black")!.seen[0]!.rows, ["t1", "t3", "t5"]);
  assert.equal(made.get("critic")!.seen[0]!.rows!.length, 6);
  const rates = [...made.values()].map(({ seen }) => seen.at(-1)!.rule?.learningRate);
  assert.deepEqual(rates, [1, 1, 3]);
});

test("minibatches: an empty batch makes no step", async () => {
  const empty = batchOfRows([]);
  assert.deepEqual(
    await minibatches({ step: { learningRate: 1 } })(ctxOf({}), empty, [counting], evidenceOf([])),
    { steps: 0 },
  );
});

test("scheduled: warm-up, then constant, linear or cosine", () => {
  const clock = { iteration: 5, phase: "train", step: 4, iterations: 10 };
  assert.equal(scheduled({}, clock, 0, 1), 1);
  assert.equal(scheduled({ warmUp: 10 }, clock, 0, 1), 0.5);
  assert.ok(Math.abs(scheduled({ shape: "linear" }, clock, 0, 0) - 0.5) < 1e-12);
  assert.ok(Math.abs(scheduled({ shape: "cosine", final: 0.1 }, clock, 0, 0) - 0.55) < 1e-12);
  assert.equal(scheduled({ shape: "linear", final: 0.1 }, { ...clock, iteration: 12 }, 0, 0), 0.1);
});
