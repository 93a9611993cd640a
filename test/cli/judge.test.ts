import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { plantedJudge } from "../evaluator/plantedJudge.ts";
import { temporary } from "../temporary.ts";
import { chatServer } from "./chatServer.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-judge-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
const { labels } = plantedJudge(1, {}, 60);
const file = written("labels.jsonl", labels.map((label) => JSON.stringify(label)).join("\n"));
const first = written("first.ts", 'export default { name: "first", compare: async () => 0.9 };');

test("judge --json reports what the text does: a judge of positions is found out, and agrees with nobody", async () => {
  const args = ["judge", "--against", file, "--evaluator", first];
  const { code, out } = await inProcess([...args, "--json"]);
  assert.equal(code, 0);
  const report = JSON.parse(out);
  assert.deepEqual(
    [report.kind, report.labels, report.judged, report.calls.answered],
    ["pairs", 60, 60, 180],
  );
  assert.deepEqual([report.swap.mean, report.repetition.mean, report.auc.mean], [0, 1, 0.5]);
  const [position, ...others] = report.biases;
  assert.deepEqual([position.name, position.verdict], ["position", "found"]);
  assert.ok(Math.abs(position.effect.mean - 0.4) < 1e-9);
  assert.deepEqual(new Set(others.map((bias: { verdict: string }) => bias.verdict)), new Set(["not found"]));
  const { out: text } = await inProcess(args);
  assert.match(text, /60 of 60 pairs judged/);
  assert.match(text, /position +found +\+40\.0 points, each time/);
});

test("judge --chat: answers off the schema are counted, and where none fits nothing was measured", async () => {
  let asked = 0;
  const half = await chatServer(() => (++asked % 5 === 0 ? "no idea" : '{"why": "so", "first": 0.7}'));
  const cache = join(folder, "cache");
  const args = (url: string): string[] => [
    "judge",
    "--against",
    file,
    "--chat",
    url,
    "--model",
    "tiny",
    "--cache",
    cache,
  ];
  const mixed = await inProcess([...args(half), "--json", "--price", "1,1"]);
  assert.equal(mixed.code, 0, mixed.err);
  const report = JSON.parse(mixed.out);
  assert.equal(report.calls.answered + report.calls["off schema"], 180);
  assert.ok(report.usdPerCall > 0 && report.meanMs > 0);
  const never = await inProcess(args(await chatServer(() => "no idea")));
  assert.equal(never.code, 1);
  assert.match(never.err, /nothing was measured/);
  assert.match(never.out, /180 off schema/);
});

test("judge: broken labels, a module that is no judge, two judges and none are one clear line each", async () => {
  const broken = written("broken.jsonl", `${JSON.stringify(labels[0])}\n{"prompt": "p", "a": "x"}\n`);
  const empty = written("empty.ts", "export default { name: 'nothing' };");
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [
      ["--against", broken, "--evaluator", first],
      1,
      /broken\.jsonl, line 2: got "b": .*expected \{"prompt", "a", "b"/,
    ],
    [
      ["--against", join(folder, "none.jsonl"), "--evaluator", first],
      2,
      /--against: got .*none\.jsonl, which is not there, expected a file of labels.*Check the path/,
    ],
    [["--against", file, "--evaluator", empty], 2, /empty\.ts: got .*an evaluator with compare or score/],
    [["--against", file], 2, /no judge/],
    [["--against", file, "--evaluator", first, "--chat", "http://127.0.0.1:1/v1"], 2, /both/],
    [["--evaluator", first], 2, /--against/],
    [["--live"], 2, /judge: got --live without a store, expected the traffic store/],
    [["--against", file, "--evaluator", first, "--max-calls", "0"], 2, /--max-calls: got "0"/],
    [["--against", file, "--evaluator", first, "--timeout", "0"], 2, /--timeout: got "0"/],
  ];
  for (const [args, code, said] of cases) {
    const ran = await inProcess(["judge", ...args]);
    assert.equal(ran.code, code, ran.err);
    assert.match(ran.err, said);
    assert.equal(ran.err.trim().split("\n").length, 1, ran.err);
  }
});

test("judge says how far it is after two seconds, and Ctrl-C ends it with 130 at once", async () => {
  const slow = written(
    "slow.ts",
    'export default { name: "slow", compare: () => new Promise((go) => setTimeout(go, 200, 0.5)) };',
  );
  const few = written(
    "few.jsonl",
    labels
      .slice(0, 16)
      .map((label) => JSON.stringify(label))
      .join("\n"),
  );
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const args = ["judge", "--against", few, "--evaluator", slow, "--concurrency", "1", "--repeats", "0"];
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((go) => child.on("exit", go));
  let [out, err] = ["", ""];
  child.stdout.on("data", (d) => (out += d));
  const progress = new Promise<void>((go) => {
    child.stderr.on("data", (d) => {
      err += d;
      if (/Labels: \d+ of 16/.test(err)) go();
    });
  });
  await progress;
  child.kill("SIGINT");
  assert.equal(await ended, 130, err);
  assert.match(out, /Interrupted\./);
});
