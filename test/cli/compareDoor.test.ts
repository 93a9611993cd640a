/** What `whetstone compare` finds out before the first run, and the budgets that it gives. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const common = "--env contextual-bandit --engine tabular --seeds 1 --no-tune --tasks 4 --out".split(" ");

test("every method that cannot train here is named before the first run, with what would", async () => {
  const out = join(mkdtempSync(join(temporary, "whetstone-compare-")), "none");
  const { code, err } = await inProcess(["compare", "grpo", "dpo", "rloo", "igpo", ...common, out]);
  assert.equal(code, 2, err);
  const last = err.trim().split("\n").at(-1)!;
  assert.match(last, /dpo, which cannot train here \(.*compares attempts/);
  assert.match(last, /igpo, which cannot train here/);
  assert.match(last, /Leave it out: .*whetstone .*compare grpo rloo …$/);
  assert.ok(!existsSync(out), "nothing ran");
});

test("a method with other numbers of tasks and attempts gets as many episodes as the first", async () => {
  const out = mkdtempSync(join(temporary, "whetstone-compare-"));
  // 16 tasks: eight attempts at each are 128 episodes of GRPO, one at each are 16 of REINFORCE++
  const command = "compare grpo reinforce-plus-plus --env codewords --iterations 2".split(" ");
  const { code, err } = await inProcess([...command, ...common.slice(2), out]);
  assert.equal(code, 0, err);
  const report = JSON.parse(readFileSync(join(out, "report.json"), "utf8"));
  assert.deepEqual(
    report.methods.map(({ episodes, curve }: Body) => [episodes, curve.length]),
    [
      [256, 2],
      [256, 16],
    ],
  );
});

interface Body {
  readonly episodes: number;
  readonly curve: readonly number[];
}
