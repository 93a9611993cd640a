/** A machine without ONNX Runtime: what needs it says so at once, what comes before it says so too, and the rest works. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "whetstone-runtime-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const hook = join(folder, "without.mjs");
writeFileSync(
  hook,
  `import { registerHooks } from "node:module";
registerHooks({
  resolve(name, context, next) {
    if (name !== "onnxruntime-node") return next(name, context);
    throw Object.assign(new Error("Cannot find package 'onnxruntime-node'"), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
`,
);
const main = join(import.meta.dirname, "../../src/cli/main.ts");
const without = (...args: readonly string[]) =>
  spawnSync(process.execPath, ["--import", hook, main, ...args], { cwd: folder, encoding: "utf8" });

test("training says at once that ONNX Runtime is missing, and validation that training will need it", () => {
  const trained = without("train", "--env", "bandit", "--out", "trained");
  assert.equal(trained.status, 2);
  assert.match(trained.stderr, /onnxruntime-node.*ONNXRUNTIME_NODE_INSTALL=skip npm install/);
  const validated = without("validate", "bandit", "--episodes", "1");
  assert.equal(validated.status, 0, validated.stderr);
  assert.match(validated.stdout, /note: ONNX Runtime is missing.*ONNXRUNTIME_NODE_INSTALL=skip npm install/);
  const tabular = ["--engine", "tabular"];
  assert.doesNotMatch(without("validate", "bandit", "--episodes", "1", ...tabular).stdout, /ONNX/);
  const ended = without("train", "--env", "bandit", ...tabular, "--iterations", "1", "--out", "tables");
  assert.equal(ended.status, 0, ended.stderr);
});
