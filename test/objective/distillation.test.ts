import assert from "node:assert/strict";
import { test } from "node:test";
import { pairRows, withColumns } from "../../src/common/tokens/pack.ts";
import type { Batch } from "../../src/core/batch.ts";
import { vocabularyCodec } from "../../src/engine/tabular/codec.ts";
import { tabularModel } from "../../src/engine/tabular/model.ts";
import { newWeights } from "../../src/engine/tabular/weights.ts";
import { distillation } from "../../src/objective/distillation.ts";
import { batchOfRows, ctxOf } from "../core/make.ts";
import { agrees } from "./gradients.ts";

/** A teacher of two ids; it says nothing about every fourth token. */
const teacher = (batch: Batch): Record<string, Float32Array> => {
  const column = (of: (a: number) => number): Float32Array =>
    Float32Array.from(batch.target_A, (_, a) => (a % 4 === 3 ? Number.NaN : of(a)));
  return {
    "teacher.id.0": column((a) => a),
    "teacher.logp.0": column((a) => Math.log(0.2 + (a % 3) / 10)),
    "teacher.id.1": column((a) => a + 1),
    "teacher.logp.1": column((a) => Math.log(0.3 - (a % 2) / 10)),
  };
};
agrees("distillation, Jensen–Shannon", distillation(), teacher);
agrees("distillation, forward, rows", distillation({ divergence: "forward", normaliser: "rows" }), teacher);
agrees(
  "distillation, reverse, weighted",
  distillation({ divergence: "reverse", importance: 2, coefficient: 0.5 }),
  teacher,
);

agrees("distillation, softened", distillation({ divergence: { softened: 5 } }), teacher);

const near = (got: number, expected: number, within = 1e-6): void =>
  assert.ok(Math.abs(got - expected) <= within, `${got}, expected ${expected}`);

test("the mean over taught tokens of ratio times divergence", async () => {
  // logp −1 on both; behaviour −1 and −4: ratios 1 and min(e³, 2) = 2. The third token has no teacher.
  const batch = withColumns(batchOfRows([{ behaviour: [-1, -4, -1], advantage: [0, 0, 0] }]), {
    "teacher.id.0": Float32Array.of(5, 6, Number.NaN),
    "teacher.logp.0": Float32Array.of(Math.log(0.5), Math.log(0.25), Number.NaN),
  });
  const outputs = {
    logp: Float32Array.of(-1, -1, -1),
    at: Float32Array.of(Math.log(0.25), Math.log(0.25), Math.log(0.25)),
    heads: {},
  };
  const objective = distillation({ divergence: "forward", importance: 2 });
  const aux = await objective.prepare(ctxOf({}), batch);
  assert.deepEqual([...objective.wants(aux, batch).at!.ids], [5, 6, 0]);
  const { loss, cotangents, stats } = objective.evaluate(outputs, batch, aux);
  // token 1: KL((½, ½) ‖ (¼, ¾)) = ½ ln 2 + ½ ln ⅔; token 2 agrees
  near(loss, (0.5 * Math.LN2 + 0.5 * Math.log(2 / 3)) / 2);
  // −½ + ¼ (½ / ¾) = −1/3, over two tokens; a token with agreement, or without a teacher, is silent
  near(cotangents.at![0]!, -1 / 6);
  near(cotangents.at![1]!, 0);
  assert.equal(cotangents.at![2], 0);
  assert.equal(stats.tokens, 2);
  assert.equal(stats.unknown, 1);
});

test("a frozen model that is the teacher is asked at the rows themselves, for its likeliest ids", async () => {
  const codec = vocabularyCodec(["a b", "say"]);
  const model = tabularModel("policy", newWeights(codec, "message"), 16);
  const prompt = codec.open([{ role: "user", content: "say" }]);
  const logits = model.weights.part("logits");
  logits.row(prompt.join(" "));
  logits.array("weights").set([0, Math.log(3), 0, Math.log(2)]); // of end, a, b and say: 1/7, 3/7, 1/7, 2/7
  model.weights.changed();
  const reference = await model.freeze();
  const rows = pairRows([{ prompt, target: codec.encode("b") }]);
  const batch = { ...batchOfRows([{ behaviour: [-1], advantage: [0] }]), ...rows };
  const objective = distillation({ teacher: "base", asks: { frozen: "reference", topk: 2 } });
  const columns = await objective.columns?.(ctxOf({ frozen: () => reference }), batch);
  assert.deepEqual(columns?.["base.id.0"], Float32Array.from(codec.encode("a")));
  assert.deepEqual(columns?.["base.id.1"], Float32Array.from(codec.encode("say")));
  near(columns?.["base.logp.0"]?.[0] ?? Number.NaN, Math.log(3 / 7));
  near(columns?.["base.logp.1"]?.[0] ?? Number.NaN, Math.log(2 / 7));
  assert.deepEqual(
    objective.wants({ tokens: 1, rows: 1, trajectories: new Map() }, withColumns(batch, columns ?? {})).at
      ?.width,
    2,
  );
});

test("without any teacher nothing is wanted and nothing learnt", async () => {
  const batch = batchOfRows([{ behaviour: [-1], advantage: [1] }]);
  const objective = distillation();
  const aux = await objective.prepare(ctxOf({}), batch);
  assert.deepEqual(objective.wants(aux, batch), {});
  const { loss, cotangents } = objective.evaluate({ logp: Float32Array.of(-1), heads: {} }, batch, aux);
  assert.equal(loss, 0);
  assert.equal(cotangents.at, undefined);
});

for (const divergence of ["forward", "reverse", { jensenShannon: 0.3 }, { softened: 5 }] as const) {
  test(`over a whole vocabulary and over part of it, ${JSON.stringify(divergence)}: slopes of a softmax's logits`, async () => {
    const codec = vocabularyCodec(["a b c", "say"]);
    const model = tabularModel("policy", newWeights(codec, "message"), 16);
    const rows = pairRows([
      { prompt: codec.open([{ role: "user", content: "say" }]), target: codec.encode("b") },
    ]);
    const objective = distillation({ divergence });
    for (const taught of [
      { end: 0.1, a: 0.5, b: 0.2, c: 0.15, say: 0.05 },
      { a: 0.5, c: 0.1 },
    ]) {
      const columns = Object.entries(taught).flatMap(([word, q], j) => [
        [`teacher.id.${j}`, Float32Array.of(word === "end" ? codec.endId : codec.encode(word)[0]!)],
        [`teacher.logp.${j}`, Float32Array.of(Math.log(q))],
      ]);
      const shell = withColumns(
        batchOfRows([{ behaviour: [-1], advantage: [0] }]),
        Object.fromEntries(columns),
      );
      const batch = { ...shell, ...rows };
      const aux = await objective.prepare(ctxOf({}), batch);
      const table = model.weights.part("logits");
      table.row(codec.open([{ role: "user", content: "say" }]).join(" "));
      const logits = table.array("weights");
      logits.set([0.3, -0.2, 0.5, 0, 0.1]);
      model.weights.changed();
      const loss = async (): Promise<number> => {
        const outputs = await model.score(batch, objective.wants(aux, batch));
        return objective.evaluate(outputs, batch, aux).loss;
      };
      await model.accumulate(batch, objective, aux, "own");
      const slope = [...table.array("gradient.own")];
      table.drop("gradient.own");
      assert.equal(table.rows.size, 1);
      for (const [i, got] of slope.entries()) {
        const moved = async (d: number): Promise<number> => {
          logits[i]! += d;
          model.weights.changed();
          const at = await loss();
          logits[i]! -= d;
          return at;
        };
        near(got, ((await moved(0.02)) - (await moved(-0.02))) / 0.04, 1e-4);
      }
    }
  });
}
