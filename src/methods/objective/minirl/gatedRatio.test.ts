import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { withColumns } from "../../../common/tokens/pack.ts";
import type { Batch } from "../../../core/batch.ts";
import { gatedRatio, trainerColumn } from "./gatedRatio.ts";

const trainer = (batch: Batch) => ({
  [trainerColumn]: batch.behaviour_A.map((x, a) => x + ((a % 3) - 1) / 5),
});
agrees("gatedRatio", gatedRatio(), trainer);
agrees("gatedRatio rows", gatedRatio({ normaliser: "rows", cap: 1.1 }), trainer);

const near = (got: ArrayLike<number>, want: readonly number[]): void =>
  want.forEach((w, i) => {
    assert.ok(Math.abs(got[i]! - w) < 1e-6, `[${i}] ${got[i]}, expected ${w}`);
  });

async function run(batch: Batch, old: readonly number[], logp: readonly number[], cap = 5) {
  const objective = gatedRatio({ cap });
  const whole = withColumns(batch, { [trainerColumn]: Float32Array.from(old) });
  const aux = await objective.prepare(ctxOf({}), whole);
  return objective.evaluate({ logp: Float32Array.from(logp), heads: {} }, whole, aux);
}

test("gatedRatio weighs against the sampler, gates by the trainer, and sums over tokens", async () => {
  const ln = Math.log;
  const batch = batchOfRows([
    { behaviour: [-1, -1, -1, -1], advantage: [1, 1, -1, -1] },
    { behaviour: [-1], advantage: [2] },
  ]);
  // d = 2, 1, 1, 1, 1. s: 1.2 counts; 1.5 > 1.27 is dropped; 0.5 < 0.8 is dropped; 1.5 with A < 0 counts; 0.5 with A > 0 counts
  const old = [-1 + ln(2), -1, -1, -1, -1];
  const moved = [1.2, 1.5, 0.5, 1.5, 0.5].map(ln);
  const { loss, cotangents, stats } = await run(
    batch,
    old,
    old.map((x, a) => x + moved[a]!),
  );
  // two rows: −2 · 1.2/2, 0, 0, +1.5/2, −0.5 · 2/2
  near(cotangents.logp!, [-1.2, 0, 0, 0.75, -0.5]);
  assert.ok(Math.abs(loss - (-1.2 + 0.75 - 0.5)) < 1e-6);
  assert.equal(stats["gated/tokens"], 2);
  // k3 of the one token that the engines disagree about: 1/2 − 1 + ln 2
  assert.ok(Math.abs(stats["discrepancy/tokens"]! - (ln(2) - 0.5)) < 1e-6);
});

test("gatedRatio caps the engines' disagreement, not the staleness", async () => {
  const batch = batchOfRows([{ behaviour: [-3], advantage: [-1] }]);
  const { cotangents } = await run(batch, [-1], [-1 + Math.log(1.5)], 2);
  near(cotangents.logp!, [3]);
});

test("gatedRatio has each row scored by the model that acted in it", async () => {
  const made = batchOfRows([
    { behaviour: [-1, -1], advantage: [1, 1] },
    { behaviour: [-1], advantage: [1] },
    { behaviour: [-1], advantage: [1] },
  ]);
  const batch = {
    ...made,
    rows: made.rows.map((row, r) => ({ ...row, model: r === 1 ? "critic" : "policy" })),
  };
  const answers: Readonly<Record<string, Float32Array>> = {
    policy: Float32Array.of(-4, -5, -6),
    critic: Float32Array.of(-7),
  };
  const columns = await gatedRatio().columns?.(
    // biome-ignore lint/suspicious/noExplicitAny: only `score` is asked for
    ctxOf({ model: (id = "policy") => ({ score: async () => ({ logp: answers[id]!, heads: {} }) }) as any }),
    batch,
  );
  assert.deepEqual([...columns![trainerColumn]!], [-4, -5, -7, -6]);
});

test("gatedRatio leaves out what has no behaviour log-probability, and counts it", async () => {
  const batch = batchOfRows([{ behaviour: [Number.NaN, -1], advantage: [1, 0] }]);
  const { cotangents, stats, loss } = await run(batch, [-1, -1], [-1, 5]);
  assert.deepEqual([stats.unknown, stats["gated/tokens"], stats.tokens], [1, 0, 1]);
  assert.ok(cotangents.logp!.every((x) => x === 0) && loss === 0);
});
