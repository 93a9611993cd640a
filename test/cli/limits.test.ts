import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { limitsIn, limitsOf } from "../../src/cli/limits.ts";
import { withCode } from "../train/world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-limits-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("limits are kept as they were stated, nothing else is, and the cache moves with the project", () => {
  const out = join(folder, "here", "runs", "one");
  mkdirSync(out, { recursive: true });
  const stated = {
    episodes: 600,
    maxSpend: 5,
    price: "0.25,2",
    seed: 3,
    cache: join(folder, "here", "chat"),
  };
  const kept = limitsOf(out, stated);
  assert.deepEqual(kept, { episodes: 600, maxSpend: 5, price: "0.25,2", cache: "../../chat" });
  writeFileSync(join(out, "limits.json"), JSON.stringify(kept));
  renameSync(join(folder, "here"), join(folder, "there"));
  const { seed: _, ...limits } = { ...stated, cache: join(folder, "there", "chat") };
  assert.deepEqual(limitsIn(join(folder, "there", "runs", "one")), limits);
});

test("a run of before keeps none, and limits that are none are refused", () => {
  assert.deepEqual(limitsIn(folder), {});
  writeFileSync(join(folder, "limits.json"), '{"maxCalls":"many"}');
  assert.throws(() => limitsIn(folder), withCode("checkpoint.damaged", /limits\.json.*whole number/));
  writeFileSync(join(folder, "limits.json"), '{"calls":5}');
  assert.throws(() => limitsIn(folder), withCode("checkpoint.damaged", /limits\.json.*calls/));
});
