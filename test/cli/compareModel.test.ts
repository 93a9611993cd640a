/** `whetstone compare --model`: methods beside each other from a pretrained model. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { comparisonsIn } from "../../scripts/benchResults.ts";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const model = join(import.meta.dirname, "..", "engine", "local", "fixtures", "gguf", "qwen3.gguf");
const compare =
  "compare grpo rloo --env contextual-bandit --seeds 2 --iterations 1 --no-tune --tasks 4".split(" ");

test("every run begins from the model, the page names it, and its rows are of level real", async () => {
  const out = mkdtempSync(join(temporary, "whetstone-compare-"));
  const { code, err } = await inProcess([...compare, "--model", model, "--lora", "2", "--out", out]);
  assert.equal(code, 0, err);
  const page = readFileSync(join(out, "report.md"), "utf8");
  assert.match(page, /those of qwen3\.gguf with a LoRA adapter of rank 2\./);
  const [row, ...more] = comparisonsIn("docs/comparisons/some.md", page);
  assert.deepEqual([row!.method, row!.opponent, row!.level, more.length], ["rloo", "grpo", "real", 0]);
});

test("a model for an engine that has none, or sets its own, is refused before any work", async () => {
  for (const engine of ["tabular", "engine.ts"]) {
    const { code, err } = await inProcess([...compare, "--engine", engine, "--model", model]);
    assert.equal(code, 2, err);
    assert.match(err, /--model/);
    assert.equal(err.trim().split("\n").length, 1, err);
  }
});
