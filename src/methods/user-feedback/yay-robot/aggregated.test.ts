import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import type { Batch } from "../../../core/batch.ts";
import type { Json } from "../../../core/json.ts";
import type { Model } from "../../../core/model.ts";
import type { Objective } from "../../../core/objective.ts";
import { randomStream } from "../../../core/random.ts";
import { loggedTask } from "../../../core/trainingExamples.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { aggregated } from "./aggregated.ts";

/** Two-token rows by name: what they train shows in which batch they are. */
const rows = (names: readonly string[], weight = 1): Batch => {
  const batch = batchOfRows(names.map(() => ({ behaviour: [-1], advantage: [1], weight: [weight] })));
  return { ...batch, rows: batch.rows.map((info, r) => ({ ...info, task: names[r]! })) };
};
const none = { trajectories: [], units: [], notes: {}, signals: [], channels: {} };

function setUp(model: Model) {
  const memory = new Map<string, Json>();
  const seen: string[][] = [];
  const objective: Objective = {
    ...likelihood(),
    prepare: async (ctx, batch) => {
      seen.push(batch.rows.map(({ task }) => task));
      return likelihood().prepare(ctx, batch);
    },
    evaluate: (outputs, batch) =>
      likelihood().evaluate(outputs, batch, { tokens: 1, rows: 1, trajectories: new Map() }),
  };
  const ctx = ctxOf({
    random: randomStream(1),
    model: () => model,
    memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
  });
  return { ctx, seen, objective, memory };
}

const policy = (): Promise<Model> =>
  tabularEngine().create({ id: "policy", seed: 1, vocabulary: ["a b c"], contextTokens: 20 });

test("aggregated: in proportion, the newest set has the share of each batch that it has of all rows", async () => {
  const { ctx, seen, objective } = setUp(await policy());
  const update = aggregated({ step: { learningRate: 0.1 }, newest: "proportional", steps: 2, rows: 8 });
  await update(ctx, rows(["old", "old", "old"]), [objective], none);
  await update(ctx, rows(["new"]), [objective], none);
  for (const batch of seen.slice(2))
    assert.deepEqual([batch.filter((task) => task === "new").length, batch.length], [2, 8]);
});

test("aggregated: a fixed share of the newest set in every batch, the rest from all earlier ones", async () => {
  const { ctx, seen, objective } = setUp(await policy());
  const update = aggregated({ step: { learningRate: 0.1 }, newest: 0.25, steps: 3, rows: 8 });
  await update(ctx, rows(["old", "old"]), [objective], none);
  await update(ctx, rows(["middle"]), [objective], none);
  const { steps, newest, earlier } = await update(ctx, rows(["new"]), [objective], none);
  assert.deepEqual([steps, newest, earlier], [3, 1, 3]);
  const count = (batch: readonly string[], name: string): number =>
    batch.filter((task) => task === name).length;
  // the first set stands alone
  for (const batch of seen.slice(0, 3)) assert.equal(count(batch, "old"), 8);
  for (const batch of seen.slice(3, 6))
    assert.deepEqual([count(batch, "middle"), count(batch, "old")], [2, 6]);
  for (const batch of seen.slice(6)) assert.deepEqual([count(batch, "new"), batch.length], [2, 8]);
  assert.ok(seen.slice(6).some((batch) => count(batch, "middle") > 0 && count(batch, "old") > 0));
});

test("aggregated: nothing new is training of the old; nothing at all is no step; what is masked teaches nothing", async () => {
  const { ctx, seen, objective, memory } = setUp(await policy());
  const update = aggregated({ step: { learningRate: 0.1 }, steps: 1, rows: 4, keep: 2 });
  assert.deepEqual(await update(ctx, rows(["masked"], 0), [objective], none), { steps: 0 });
  await update(ctx, rows(["one", "two", "three"]), [objective], none);
  await update(ctx, rows([]), [objective], none);
  assert.ok(
    seen.at(-1)!.every((task) => task === "two" || task === "three"),
    "the last ones are kept",
  );
  assert.equal(JSON.parse(JSON.stringify([...memory.values()][0])).length, 2);
});

test("aggregated: what people said in production is learnt from once, and remembered in no run", async () => {
  const { ctx, seen, objective, memory } = setUp(await policy());
  const update = aggregated({ step: { learningRate: 0.1 }, steps: 1, rows: 4 });
  await update(ctx, rows([loggedTask("one"), "other"]), [objective], none);
  assert.ok(seen[0]!.includes(loggedTask("one")));
  assert.equal(JSON.stringify([...memory.values()]).includes("one"), false);
});

test("aggregated: the policy learns what the rows say", async () => {
  const model = await policy();
  const { ctx } = setUp(model);
  const a = model.codec.encode("a")[0]!;
  const batch = { ...rows(["x"]), tokens_N: Int32Array.of(1, a) };
  const stats = await aggregated({ step: { optimiser: "sgd", learningRate: 1 }, steps: 20 })(
    ctx,
    batch,
    [likelihood()],
    none,
  );
  const { logp } = await model.score(batch);
  assert.ok(Math.exp(logp[0]!) > 0.8, String(Math.exp(logp[0]!)));
  assert.ok(stats["likelihood.nll"]! < Math.log(4));
});
