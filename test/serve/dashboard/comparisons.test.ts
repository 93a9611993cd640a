import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ComparisonDetail, ComparisonsPage } from "../../../src/serve/dashboard/types.ts";
import { compare } from "../../web/comparison.ts";
import { world } from "./world.ts";

test("what whetstone compare wrote beside the store is listed and shown, shares within 0 and 100 %", async (t) => {
  const { folder, get, refused } = await world(t);
  const write = (name: string, text: string): void => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "report.json"), text);
  };
  compare(folder, "bandit");
  write("something", JSON.stringify({ env: "bandit" }));
  write("broken", "{");
  const { comparisons } = await get<ComparisonsPage>("/api/comparisons");
  assert.deepEqual(
    comparisons.map(({ id, methods, seeds }) => [id, methods, seeds]),
    [["compare-bandit", ["grpo", "rloo"], 2]],
  );
  const detail = await get<ComparisonDetail>("/api/comparisons/compare-bandit");
  const [grpo, rloo] = detail.splits[0]!.rows;
  // the t interval of 0.9 and 1 is 0.95 ± 12.706 · 0.05
  assert.ok(Math.abs(grpo!.success.low! - (0.95 - 12.706204736174698 * 0.05)) < 1e-9);
  assert.deepEqual([grpo?.success.mean, grpo?.success.high], [0.95, 1]);
  assert.equal(grpo?.against, undefined);
  assert.ok(Math.abs(rloo!.against!.difference.mean! + 0.45) < 1e-12);
  assert.equal(rloo?.against?.difference.low, -1);
  assert.equal(rloo?.against?.improvement, 0);
  assert.deepEqual(detail.runs[1], { method: "rloo", split: "test", success: [0.4, 0.6] });
  assert.match(detail.warnings.join(), /near the ceiling: grpo/);
  // a name from outside is no path
  for (const id of ["none", "..%2Fcompare-bandit", "broken"]) {
    assert.equal((await refused(`/api/comparisons/${id}`)).status, 404, id);
  }
});
