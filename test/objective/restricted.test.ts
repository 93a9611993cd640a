import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../src/core/batch.ts";
import type { Origin } from "../../src/core/types.ts";
import { clippedRatio, oldColumn } from "../../src/objective/clippedRatio.ts";
import { likelihood } from "../../src/objective/likelihood.ts";
import { policyGradient } from "../../src/objective/policyGradient.ts";
import { restricted } from "../../src/objective/restricted.ts";
import { batchOfRows, ctxOf } from "../core/make.ts";
import { agrees } from "./gradients.ts";

agrees("restricted to all", restricted(clippedRatio(), ["sampled"]));
agrees("restricted to none", restricted(policyGradient(), ["replayed"]));

function mixed(): Batch {
  const batch = batchOfRows([
    { behaviour: [-1, -1, -1], advantage: [1, 1, 1] },
    { behaviour: [Number.NaN, Number.NaN], advantage: [2, 2] },
    { behaviour: [-1], advantage: [-1] },
  ]);
  const origins: readonly Origin[] = ["sampled", "demonstrated", "sampled"];
  return { ...batch, rows: batch.rows.map((row, r) => ({ ...row, origin: origins[r]! })) };
}

test("each loss sees and counts its own rows", async () => {
  const batch = mixed();
  const logp = new Float32Array(6).fill(-1);
  const slopes = async (objective: ReturnType<typeof likelihood>): Promise<number[]> => {
    const aux = await objective.prepare(ctxOf({}), batch);
    return [...objective.evaluate({ logp, heads: {} }, batch, aux).cotangents.logp!];
  };
  // two tokens were shown, four sampled
  assert.deepEqual(await slopes(restricted(likelihood(), ["demonstrated"])), [0, 0, 0, -0.5, -0.5, 0]);
  const own = await slopes(restricted(policyGradient(), ["sampled"]));
  assert.deepEqual(own, [-0.25, -0.25, -0.25, 0, 0, 0.25]);
});

test("columns are made of its own rows and have no value elsewhere", async () => {
  const unasked = restricted(clippedRatio(), ["sampled"]);
  // nothing sampled lacks a log-probability: no model is asked
  const columns = await unasked.columns?.(ctxOf({}), mixed());
  assert.deepEqual([...columns![oldColumn]!], [-1, -1, -1, Number.NaN, Number.NaN, -1]);
  assert.deepEqual(await restricted(clippedRatio(), ["replayed"]).columns?.(ctxOf({}), mixed()), {});
  assert.equal(restricted(likelihood(), ["sampled"]).columns, undefined);
});

test("rows may be chosen by anything about them, and normalised by the whole batch", async () => {
  const batch = mixed();
  const logp = new Float32Array(6).fill(-1);
  const shown = restricted(likelihood(), (row) => row.origin === "demonstrated", { normalise: "batch" });
  const aux = await shown.prepare(ctxOf({}), batch);
  const { cotangents } = shown.evaluate({ logp, heads: {} }, batch, aux);
  // six tokens in all, float32
  const sixth = Math.fround(-1 / 6);
  assert.deepEqual([...cotangents.logp!], [0, 0, 0, sixth, sixth, 0]);
});
