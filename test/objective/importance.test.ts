import assert from "node:assert/strict";
import { test } from "node:test";
import { averageStats } from "../../src/common/statistics/stats.ts";
import { gather, selectRows } from "../../src/common/tokens/pack.ts";
import { clippedRatio } from "../../src/objective/clippedRatio.ts";
import { policyGradient } from "../../src/objective/policyGradient.ts";
import { batchOfRows, ctxOf } from "../core/make.ts";

const bounds = { low: 0.5, high: 1 };

/** Ratios 3, ¼, 1 and 1.5 of the policy to the one that sampled; the last token's is unknown. */
const ratios = [3, 0.25, 1, 1.5, 1];
const batch = batchOfRows([
  { behaviour: [-2, -1, -1], advantage: [1, -2, 3] },
  { behaviour: [-1, Number.NaN], advantage: [-1, 5], weight: [0.5, 1] },
]);
const logp = Float32Array.from(ratios, (r, a) => (a === 0 ? -2 : -1) + Math.log(r));

async function run(objective: ReturnType<typeof policyGradient>, at = logp) {
  return objective.evaluate({ logp: at, heads: {} }, batch, await objective.prepare(ctxOf({}), batch));
}

test("policyGradient with importance weights is worked by hand", async () => {
  // weights held to [½, 2]: 2, ½, 1, 1.5; N = 4.5. A token whose ratio is unknown is left out.
  const { loss, cotangents, stats } = await run(policyGradient({ importance: bounds }));
  const want = [-2 * 1, -0.5 * -2, -1 * 3, -0.5 * 1.5 * -1, 0].map((x) => x / 4.5);
  want.forEach((x, a) => {
    assert.ok(Math.abs(cotangents.logp![a]! - x) < 1e-6, `[${a}]`);
  });
  assert.ok(Math.abs(loss - want.reduce((sum, x, a) => sum + x * logp[a]!, 0)) < 1e-6);
  const { tokens, ratio, clipFraction, unknown } = averageStats(stats);
  assert.deepEqual([tokens, clipFraction, unknown], [4, 0.5, 1]);
  assert.ok(Math.abs(ratio! - 5.75 / 4) < 1e-6);
});

test("importance: within the bounds the gradient is the clipped ratio's, beyond them it goes on", async () => {
  const within = Float32Array.from(batch.behaviour_A, (old, a) => old + ((a % 3) - 1) / 20);
  const weighted = (await run(policyGradient({ importance: { low: 0.2, high: 0.2 } }), within)).cotangents;
  const ratio = clippedRatio();
  const aux = await ratio.prepare(ctxOf({}), batch);
  const clipped = ratio.evaluate({ logp: within, heads: {} }, batch, aux).cotangents;
  assert.deepEqual(weighted.logp, clipped.logp);
  // token 0: ratio 3 with A = 1, which the clipped ratio no longer hears
  assert.ok(Math.abs(ratio.evaluate({ logp, heads: {} }, batch, aux).cotangents.logp![0]!) === 0);
  assert.ok((await run(policyGradient({ importance: bounds }))).cotangents.logp![0]! < 0);
});

test("importance: parts add up to the whole, and without weights it asks for no column", async () => {
  const objective = policyGradient({ importance: bounds });
  const aux = await objective.prepare(ctxOf({}), batch);
  const whole = objective.evaluate({ logp, heads: {} }, batch, aux);
  let loss = 0;
  for (const r of [0, 1]) {
    const part = selectRows(batch, [r]);
    loss += objective.evaluate({ logp: gather(logp, part.index_A), heads: {} }, part, aux).loss;
  }
  assert.ok(Math.abs(loss - whole.loss) < 1e-9);
  assert.deepEqual(await objective.columns?.(ctxOf({}), selectRows(batch, [0])), {
    "old.logp": batch.behaviour_A.slice(0, 3),
  });
  assert.equal(policyGradient().columns, undefined);
});

test("policyGradient trains the model that it names, whoever acted", () => {
  assert.equal(policyGradient({ model: "like" }).model, "like");
  assert.equal(policyGradient().model, undefined);
});
