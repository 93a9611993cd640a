import assert from "node:assert/strict";
import { test } from "node:test";
import { ensembleCall } from "../../src/evaluator/ensemble.ts";
import type { JudgeCall } from "../../src/evaluator/judgeCall.ts";

const said = (...values: readonly number[]): JudgeCall[] =>
  values.map((value, i) => ({ outcome: "answered", value, ms: i }));
const failed: JudgeCall = { outcome: "failed", ms: 9, why: "500" };

test("the mean, and nothing where the largest and the smallest number are too far apart", () => {
  const rule = { vote: "mean", abstain: 0.5 } as const;
  assert.deepEqual(ensembleCall(said(0.25, 0.75), rule), { outcome: "answered", value: 0.5, ms: 1 });
  const apart = ensembleCall(said(0.2, 0.75), rule);
  assert.deepEqual([apart.outcome, apart.value], ["abstained", undefined]);
});

test("the majority of choices, and nothing where too many go against it", () => {
  const rule = { vote: "majority", abstain: 0.4 } as const;
  const mostly = ensembleCall(said(0.51, 0.99, 0.2), rule);
  assert.deepEqual([mostly.outcome, mostly.value], ["answered", 2 / 3]);
  assert.equal(ensembleCall(said(0.9, 0.1), rule).outcome, "abstained");
  assert.equal(ensembleCall(said(3, 0.1), rule).outcome, "off schema");
});

test("judges without an answer do not count, and half of the judges are too few", () => {
  const rule = { vote: "mean", abstain: 1 } as const;
  assert.deepEqual(ensembleCall([...said(0.2, 0.4), failed], rule).value?.toFixed(2), "0.30");
  assert.deepEqual(ensembleCall([...said(0.2), failed], rule), failed);
});
