/** `whetstone eval --suite`, as scripts meet it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-suite-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function whetstone(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1" };
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, env });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

const suite = ["--suite", "multiturninstruct"];

test("a suite measures a trained run: a table, JSON rows with intervals, a Markdown report", async () => {
  const room = new URL("../../src/env/index.ts", import.meta.url);
  const source = `import { entangledInstructions } from ${JSON.stringify(room)};\nexport default entangledInstructions({ perCategory: 1 });\n`;
  writeFileSync(join(folder, "few.ts"), source);
  const train = ["--env", "few.ts", "--engine", "tabular", "--iterations", "1", "--group-size", "2"];
  const trained = await whetstone("train", ...train, "--out", "runs/entangled");
  assert.equal(trained.code, 0, trained.err);
  const { code, out, err } = await whetstone(
    ...["eval", "runs/entangled", ...suite, "--tasks", "9", "--json", "--out", "reports/r.md"],
  );
  assert.equal(code, 0, err);
  const report = JSON.parse(out);
  assert.deepEqual(
    [report.type, report.suite, report.agent, report.mode, report.failed],
    ["suite", "multiturninstruct", "runs/entangled", "sampled", 0],
  );
  const all = report.rows.find((row: { name: string }) => row.name === "all");
  assert.equal(all.value.n, 9);
  assert.ok(all.value.low <= all.value.mean && all.value.mean <= all.value.high);
  assert.match(err, /multiturninstruct: 9 of 9/);
  assert.match(err, /level 3 +0\.0 % +0\.0 % to /);
  const page = readFileSync(join(folder, "reports", "r.md"), "utf8");
  assert.match(page, /^# multiturninstruct: runs\/entangled\n/);
  assert.match(page, /\| level 1 \| .* % \| .* \| 3 \|/);
});

test("a scripted player stands in for a run", async () => {
  const { code, out, err } = await whetstone("eval", ...suite, "--player", "expert", "--tasks", "18");
  assert.equal(code, 0, err);
  assert.match(out, /level 3 +100\.0 %/);
  assert.match(out, /the expert player/);
});

test("what a suite does not take is said in one line, and nothing is written", async () => {
  const cases: [string[], RegExp][] = [
    [["eval", "--suite", "multiturninstrukt"], /--suite.*Did you mean multiturninstruct\?/],
    [["eval", ...suite], /nothing to measure, expected a run, a checkpoint, or --player/],
    [["eval", ...suite, "--player", "experto"], /Did you mean expert\?/],
    [["eval", ...suite, "--player", "expert", "--env", "maze"], /--env: got maze beside --suite/],
    [["eval", ...suite, "--player", "expert", "--fail-under", "0.5"], /--fail-under: got 0.5 beside --suite/],
    [["eval", "x", "--out", "r.md"], /--out: got r.md without a suite/],
    [["eval"], /nothing to measure/],
  ];
  const ended = await Promise.all(cases.map(([args]) => whetstone(...args)));
  for (const [i, { code, out, err }] of ended.entries()) {
    assert.match(err, cases[i]![1]);
    assert.equal(err.trim().split("\n").length, 1, err);
    assert.deepEqual([code, out], [2, ""]);
  }
  assert.ok(!existsSync(join(folder, "r.md")));
});
