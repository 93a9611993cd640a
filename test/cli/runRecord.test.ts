import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { overlaid, readRunRecord, recordOf } from "../../src/cli/runRecord.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { bandit } from "../../src/env/bandit.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { type RunConfig, resolveConfig } from "../../src/train/config.ts";
import { withCode } from "../train/world.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-record-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const config = await resolveConfig({ environment: bandit(), method: grpo.build(), engine: tabularEngine() });
const nobody = { file: undefined, measured: undefined };

/** Writes a run's config into a folder. */
function written(out: string, kept: RunConfig | object): string {
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "run.json"), JSON.stringify(kept));
  return out;
}

test("limits are kept as they were stated, and the cache moves with the project", async () => {
  const out = join(folder, "here", "runs", "one");
  const limits = { episodes: 600, maxSpend: 5, price: "0.25,2", cache: join(folder, "here", "chat") };
  const kept = overlaid(recordOf(out, config, {}, {}), { ...limits, seed: 3 }, nobody);
  const { episodes, ...adjustable } = { ...limits, cache: "../../chat" };
  assert.deepEqual(kept.config.adjustable, { ...config.adjustable, episodes, parts: adjustable });
  assert.equal(kept.config.seed, 3);
  written(out, kept.config);
  renameSync(join(folder, "here"), join(folder, "there"));
  const found = await readRunRecord(join(folder, "there", "runs", "one"));
  assert.equal(found?.engineOptions.cache, join(folder, "there", "chat"));
  assert.deepEqual(found.adjustable, adjustable);
});

test("what is asked for stands in place of what the run began with, and nothing else changes", () => {
  const began = recordOf(folder, config, { settings: { learningRate: 0.1, tasks: 4 }, lora: 8 }, {});
  const same = overlaid(began, {}, nobody);
  assert.deepEqual(same.parts, began.parts);
  const asked = { settings: { tasks: 5 }, threads: 2, evaluation: { tasks: 7 } };
  const other = overlaid(began, asked, nobody);
  assert.deepEqual(other.parts, { settings: { learningRate: 0.1, tasks: 5 }, lora: 8 });
  assert.deepEqual(other.adjustable, { threads: 2 });
  assert.deepEqual(other.config.evaluation, { ...config.evaluation, tasks: 7 });
});

test("limits that are none, a config that is none and a run of an earlier version are refused in one line", async () => {
  const calls = { ...config, adjustable: { ...config.adjustable, parts: { maxCalls: "many" } } };
  await assert.rejects(
    readRunRecord(written(join(folder, "many"), calls)),
    withCode("checkpoint.damaged", /run\.json.*whole number/),
  );
  const unknown = { ...config, adjustable: { ...config.adjustable, parts: { calls: 5 } } };
  await assert.rejects(
    readRunRecord(written(join(folder, "unknown"), unknown)),
    withCode("checkpoint.damaged", /run\.json.*calls/),
  );
  const { seed: _, ...seedless } = config;
  await assert.rejects(
    readRunRecord(written(join(folder, "seedless"), seedless)),
    withCode("checkpoint.damaged", /run\.json.*seed/),
  );
  const before = { format: 1, env: "bandit", method: "grpo", engine: "tabular", seed: 1, config: {} };
  const old = written(join(folder, "old"), before);
  await assert.rejects(readRunRecord(old), withCode("run.different", /earlier version.*--model \S+final/));
  const resumed = await inProcess(["train", "--out", old, "--resume"]);
  assert.deepEqual([resumed.code, resumed.err.trim().split("\n").length], [2, 1], resumed.err);
  assert.equal(await readRunRecord(join(folder, "none")), undefined);
});

test("a run is kept whole, and goes on with what it began with: its store, too", async () => {
  const out = join(folder, "whole");
  const args = ["--env", "bandit", "--engine", "tabular", "--iterations", "2", "--learning-rate", "0.1"];
  const store = join(folder, "elsewhere.sqlite");
  const begun = await inProcess([
    ...["train", "--json", ...args, "--out", out, "--store", store],
    ...["--concurrency", "3"],
  ]);
  assert.equal(begun.code, 0, begun.err);
  const text = readFileSync(join(out, "run.json"), "utf8");
  const kept = JSON.parse(text);
  assert.deepEqual(
    [kept.format, kept.adjustable.concurrency, kept.adjustable.store],
    [2, 3, "../elsewhere.sqlite"],
  );
  assert.equal(kept.parts.settings.learningRate, 0.1);
  assert.ok("gradientClip" in kept.parts.settings, "settings that nobody stated are kept as well");
  const resumed = await inProcess(["train", "--json", "--out", out, "--resume"]);
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal(readFileSync(join(out, "run.json"), "utf8"), text);
  const other = await inProcess(["train", "--json", "--out", out, "--resume", "--tasks", "3"]);
  assert.equal(other.code, 2);
  assert.match(
    other.err,
    /options that differ from those in \S+run\.json: settings\.tasks \(3, begun with \d+\)/,
  );
});
