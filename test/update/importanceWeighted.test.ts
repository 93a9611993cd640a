import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch, TokenRows } from "../../src/core/batch.ts";
import type { Model } from "../../src/core/model.ts";
import type { Update } from "../../src/core/slots.ts";
import { importanceWeighted } from "../../src/update/importanceWeighted.ts";
import { batchOfRows, ctxOf, evidenceOf } from "../core/make.ts";

const ln = Math.log;

/** What an update gets, when the policy of now gives these log-probabilities to the rows that it is asked about. */
async function weighed(batch: Batch, now: readonly number[], cap?: number) {
  const asked: TokenRows[] = [];
  const model: Partial<Model> = {
    score: async (rows) => {
      asked.push(rows);
      return { logp: Float32Array.from(now), heads: {} };
    },
  };
  let got: Batch | undefined;
  const update: Update = async (_ctx, given) => {
    got = given;
    return { steps: 1 };
  };
  const wrapped = importanceWeighted(update, cap === undefined ? {} : { cap });
  const stats = await wrapped(ctxOf({ model: () => model as Model }), batch, [], evidenceOf([]));
  return { got: got!, stats, asked };
}

const close = (a: ArrayLike<number>, b: readonly number[]): void => {
  assert.equal(a.length, b.length);
  b.forEach((x, i) => {
    if (Number.isNaN(x)) assert.ok(Number.isNaN(a[i]!));
    else assert.ok(Math.abs(a[i]! - x) < 1e-5, `${a[i]} is not ${x}`);
  });
};

test("advantages are multiplied by min(ratio, cap), and ratios of objectives start at 1", async () => {
  // sampled with 0.5, 0.25, 0.1; now 0.25, 0.25, 0.4: ratios 1/2, 1, 4 and weights 1/2, 1, 2
  const batch = batchOfRows([
    { behaviour: [ln(0.5), ln(0.25)], advantage: [3, -1], group: "a" },
    { behaviour: [ln(0.1)], advantage: [-2], group: "b" },
  ]);
  const now = [ln(0.25), ln(0.25), ln(0.4)];
  const { got, stats } = await weighed(batch, now);
  close(got.advantage_A, [1.5, -1, -4]);
  close(got.behaviour_A, now);
  close(batch.advantage_A, [3, -1, -2]);
  close([stats.importance!, stats["importance.truncated"]!], [3.5 / 3, 1 / 3]);
  // exp(d) - 1 - d: 1/2 - 1 + ln 2, 0, 4 - 1 - ln 4
  close([stats["importance.kl"]!], [(0.5 - 1 + ln(2) + 3 - ln(4)) / 3]);
  close((await weighed(batch, now, 4)).got.advantage_A, [1.5, -1, -8]);
});

test("without the cap, weighted means under the older policy are means under the newer one", async () => {
  // a token of three, drawn with 0.5, 0.3, 0.2; now 0.2, 0.3, 0.5; worth 1, 2, 6: the mean now is 0.2 + 0.6 + 3 = 3.8
  const [old, now, worth] = [
    [0.5, 0.3, 0.2],
    [0.2, 0.3, 0.5],
    [1, 2, 6],
  ] as const;
  const batch = batchOfRows(old.map((p, i) => ({ behaviour: [ln(p)], advantage: [worth[i]!], group: "a" })));
  const { got, stats } = await weighed(batch, now.map(ln), 1e9);
  close([old.reduce((sum, p, i) => sum + p * got.advantage_A[i]!, 0)], [3.8]);
  assert.equal(stats["importance.truncated"], 0);
});

test("rows that nobody sampled are not asked about and stay as they are", async () => {
  const batch = batchOfRows([
    { behaviour: [Number.NaN, Number.NaN], advantage: [1, 1], group: "a" },
    { behaviour: [ln(0.5)], advantage: [1], group: "b" },
  ]);
  const { got, asked } = await weighed(batch, [ln(0.25)]);
  assert.equal(asked.length, 1);
  assert.equal(asked[0]!.target_A.length, 1);
  close(got.advantage_A, [1, 1, 0.5]);
  close(got.behaviour_A, [Number.NaN, Number.NaN, ln(0.25)]);
  const none = await weighed(batchOfRows([{ behaviour: [Number.NaN], advantage: [1], group: "a" }]), []);
  assert.equal(none.asked.length, 0);
  assert.deepEqual(none.stats, { steps: 1 });
});
