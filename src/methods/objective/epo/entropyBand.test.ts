import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import { agrees } from "../../../../test/objective/gradients.ts";
import { withColumns } from "../../../common/tokens/pack.ts";
import type { Batch } from "../../../core/batch.ts";
import { entropyBonus } from "../../../objective/entropyBonus.ts";
import { entropyBand, epoSchedule } from "./entropyBand.ts";

const history = (batch: Batch) => ({
  "entropy.history": batch.behaviour_A.map((x, a) => (a % 4 === 0 ? Number.NaN : -x / 2)),
});
agrees("entropyBand", entropyBand(), history);
agrees("entropyBand rows", entropyBand({ normaliser: "rows", band: { low: 0, high: 0.9 } }), history);

async function run(
  objective: ReturnType<typeof entropyBand>,
  entropy: readonly number[],
  clock = ctxOf({}).clock,
) {
  const batch = withColumns(
    batchOfRows([{ behaviour: entropy.map(() => -1), advantage: entropy.map(() => 0) }]),
    {
      "entropy.history": Float32Array.of(1, 1, 1, Number.NaN),
    },
  );
  const aux = await objective.prepare(ctxOf({ clock }), batch);
  const logp = new Float32Array(entropy.length);
  return objective.evaluate({ logp, entropy: Float32Array.from(entropy), heads: {} }, batch, aux);
}

test("entropyBand pulls from both sides, leaves the band and what has no history alone", async () => {
  // beyond: 1.5 − 1.2 = 0.3, inside, 0.8 − 0.5 = 0.3, no history; N = 4
  const { loss, cotangents, stats } = await run(entropyBand({ coefficient: 4 }), [1.5, 1, 0.5, 9]);
  assert.ok(Math.abs(loss - 0.6) < 1e-6);
  assert.deepEqual([...cotangents.entropy!], [1, 0, -1, 0]);
  assert.equal(stats["outside/tokens"], 2);
});

test("counting the tokens outside has no slope: beside a bonus, the bonus alone is left", async () => {
  const { loss, cotangents } = await run(entropyBand({ coefficient: 4, form: "count" }), [1.5, 1, 0.5, 9]);
  assert.equal(loss, 2);
  assert.deepEqual([...cotangents.entropy!], [0, 0, 0, 0]);
});

test("above the band the bonus wins unless the band's coefficient is larger", async () => {
  const batch = batchOfRows([{ behaviour: [-1, -1, -1, -1], advantage: [0, 0, 0, 0] }]);
  const bonus = entropyBonus({ coefficient: 0.4 });
  const aux = await bonus.prepare(ctxOf({}), batch);
  const up = bonus.evaluate(
    { logp: new Float32Array(4), entropy: new Float32Array(4), heads: {} },
    batch,
    aux,
  ).cotangents.entropy![0]!;
  const net = async (coefficient: number): Promise<number> =>
    up + (await run(entropyBand({ coefficient }), [1.5, 1, 0.5, 9])).cotangents.entropy![0]!;
  assert.ok((await net(0.04)) < 0 && (await net(0.8)) > 0);
});

test("the schedule falls slowly, then fast, and multiplies the penalty", async () => {
  const at = (iteration: number): number =>
    epoSchedule({ iteration, iterations: 100, phase: "train", step: 0 });
  assert.equal(at(0), 1);
  assert.ok(Math.abs(at(50) - (1 - 0.2 * (1 - Math.exp(-2)))) < 1e-12);
  assert.ok(Math.abs(at(75) - 0.8 * Math.exp(-1.5)) < 1e-12);
  assert.equal(epoSchedule({ iteration: 7, phase: "train", step: 0 }), 1);
  const clock = { iteration: 75, iterations: 100, phase: "train", step: 0 };
  const { loss } = await run(entropyBand({ coefficient: 4, schedule: epoSchedule }), [1.5, 1, 0.5, 9], clock);
  assert.ok(Math.abs(loss - 0.6 * at(75)) < 1e-6);
});
