import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../src/core/batch.ts";
import { clippedRatio } from "../../src/objective/clippedRatio.ts";
import { onColumn } from "../../src/objective/onColumn.ts";
import { batchOfRows, ctxWith } from "../core/make.ts";

const batch = (): Batch =>
  batchOfRows([
    { behaviour: [-1, -2], advantage: [1, 3] },
    { behaviour: [-1, -1], advantage: [2, 5] },
  ]);

test("onColumn: the loss of the kept tokens, divided by their number", async () => {
  const masked: Batch = { ...batch(), columns: { kept: Float32Array.of(1, 0, Number.NaN, 0) } };
  const objective = onColumn(clippedRatio(), "kept");
  const aux = await objective.prepare(ctxWith({}), masked);
  const logp = Float32Array.of(-1, -2, -1, -1);
  const { loss, cotangents } = objective.evaluate({ logp, heads: {} }, masked, aux);
  // ratios of 1: −(1 + 2) / 2
  assert.equal(loss, -1.5);
  assert.deepEqual(
    [...cotangents.logp!].map((x) => x + 0),
    [-0.5, 0, -1, 0],
  );
});

test("onColumn: without the column it is the loss itself", async () => {
  const [plain, wrapped] = [clippedRatio(), onColumn(clippedRatio(), "kept")];
  const logp = Float32Array.of(-1, -2, -1, -1);
  const [a, b] = await Promise.all(
    [plain, wrapped].map(async (o) =>
      o.evaluate({ logp, heads: {} }, batch(), await o.prepare(ctxWith({}), batch())),
    ),
  );
  assert.equal(a!.loss, b!.loss);
  assert.deepEqual(a!.cotangents, b!.cotangents);
});
