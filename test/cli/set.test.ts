/** A method's own options from the command line and from config files, in the run's record, and tuned by `compare`. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-set-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string): string => join(folder, name);

const small = [
  "--env",
  "bandit",
  "--engine",
  "tabular",
  "--iterations",
  "2",
  "--tasks",
  "2",
  "--group-size",
  "2",
];
const train = (out: string, ...more: readonly string[]): ReturnType<typeof inProcess> =>
  inProcess(["train", "--json", "--out", inFolder(out), ...more]);
const recorded = (
  out: string,
): { readonly options?: object; readonly config: { readonly settings: object } } =>
  JSON.parse(readFileSync(join(inFolder(out), "run.json"), "utf8"));

test("--set reaches the run, its record, and the run that goes on", async () => {
  const done = await train("one", ...small, "--method", "kto", "--set", "beta=0.3", "--set", "epochs=2");
  assert.equal(done.code, 0, done.err);
  assert.deepEqual(recorded("one").options, { beta: 0.3, desirable: 1, undesirable: 1 });
  assert.equal((recorded("one").config.settings as { epochs: number }).epochs, 2);
  const again = await train("one", "--resume");
  assert.equal(again.code, 0, again.err);
  const other = await train("one", "--resume", "--set", "beta=0.2");
  assert.deepEqual([other.code, other.err.trim().split("\n").length], [2, 1], other.err);
  assert.match(other.err, /options that differ/);
});

test("a config file sets options, and the command line wins", async () => {
  const run = { env: "bandit", engine: "tabular", method: "nft", iterations: 1 };
  const file = inFolder("config.ts");
  const write = (options: object): void =>
    writeFileSync(
      file,
      `export default ${JSON.stringify({ ...run, options, out: inFolder("configured") })};\n`,
    );
  write({ floor: 0.5, weight: "none" });
  const done = await inProcess(["train", file, "--json", "--tasks", "2", "--set", "floor=0.25"]);
  assert.equal(done.code, 0, done.err);
  assert.deepEqual(recorded("configured").options, { floor: 0.25, weight: "none" });
  const wrong = inFolder("wrong.ts");
  writeFileSync(wrong, `export default { env: "bandit", options: { beta: [1] } };\n`);
  const refused = await inProcess(["train", wrong, "--json"]);
  assert.match(refused.err, /wrong\.ts: options\.beta: got a list, expected a number/);
});

test("an unknown name, an impossible value and a missing value are one clear line", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["--method", "dpo", "--set", "betta=1"], /--set: got "betta", .*Did you mean beta\?/],
    [["--method", "grpo", "--set", "beta=1"], /--set: got "beta", expected one of tasks, /],
    [
      ["--method", "dpo", "--set", "beta=-1"],
      /options of method "dpo", beta: got -1, expected a number from/,
    ],
    [["--method", "dpo", "--set", "beta=much"], /beta: got much, expected a number/],
    [
      ["--method", "nft", "--set", "weight=all"],
      /weight: got all, expected one of failures, deviation, none/,
    ],
    [["--method", "dpo", "--set", "beta"], /--set: got "beta", expected a name, an equals sign and a value/],
    [["--method", "dpo", "--set", "groupSize=x"], /--set groupSize: got "x", expected a number/],
  ];
  for (const [args, words] of cases) {
    const { code, err, out } = await train("refused", ...small, ...args);
    assert.match(err, words, args.join(" "));
    assert.deepEqual([code, out, err.trim().split("\n").length], [2, "", 1], err);
  }
});

test("explain lists a method's own options with default, range and meaning", async () => {
  const { out } = await inProcess(["explain", "kto"]);
  assert.match(out, /Options of its own \(--set name=value\)/);
  assert.match(out, /beta 0\.1: β, how fast .*; a number from/);
  const { options } = JSON.parse((await inProcess(["explain", "kto", "--json"])).out);
  assert.deepEqual(options.desirable, { help: "λ_D, weight of good replies", default: 1, low: 0 });
  assert.doesNotMatch((await inProcess(["explain", "grpo"])).out, /Options of its own/);
});

test("compare sets options for those methods that have them, and tunes any of them", async () => {
  const env = pathToFileURL(join(import.meta.dirname, "..", "..", "src", "env", "bandit.ts")).href;
  writeFileSync(
    inFolder("env.ts"),
    `import { bandit } from ${JSON.stringify(env)};\nexport default bandit();\n`,
  );
  const out = inFolder("compared");
  const args = ["compare", "grpo", "kto", "--env", inFolder("env.ts"), "--engine", "tabular", "--seeds", "2"];
  const more = ["--iterations", "2", "--tasks", "4", "--out", out, "--tuning-seeds", "1", "--json"];
  const tune = ["--set", "groupSize=4", "--tune", "beta=0.1,0.5", "--tune", "learningRate=0.1,0.3"];
  const done = await inProcess([...args, ...more, ...tune]);
  assert.equal(done.code, 0, done.err);
  assert.match(done.err, /2 methods × 2 seeds, 6 more to tune: 10 runs/);
  const report = JSON.parse(readFileSync(join(out, "report.json"), "utf8"));
  assert.deepEqual(report.set, { groupSize: 4 });
  const [grpo, kto] = report.methods;
  assert.deepEqual(Object.keys(grpo.chosen), ["learningRate"], "it has no β");
  assert.deepEqual(Object.keys(kto.chosen).sort(), ["beta", "learningRate"]);
  const tag = `kto-groupSize=4-beta=${kto.chosen.beta}-${kto.chosen.learningRate}-1`;
  const run = JSON.parse(readFileSync(join(out, tag, "run.json"), "utf8"));
  assert.equal(run.options.beta, kto.chosen.beta);

  const refused = await inProcess([...args, ...more, "--tune", "beta=0.1,-2"]);
  assert.match(refused.err, /beta: got -2, expected a number from/);
  const unknown = await inProcess([...args, ...more, "--tune", "gamma=1"]);
  assert.match(unknown.err, /--tune: got "gamma"/);
});
