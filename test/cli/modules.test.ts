/** Runs whose environment or config is a module of the user's: resumed and measured without naming it again. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { inProcess } from "./inProcess.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-modules-"));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const whetstone = (...args: readonly string[]): ReturnType<typeof inProcess> => inProcess(args);

/** In a process that has not read the modules yet. */
function afresh(...args: readonly string[]): { code: number | null; err: string } {
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: "utf8" });
  return { code: status, err: stderr };
}

const cheap = ["--engine", "tabular", "--iterations", "2"];
const oneLine = ({ code, err }: { code: number | null; err: string }, exit: number, words: RegExp): void => {
  assert.match(err, words);
  assert.equal(err.trim().split("\n").length, 1, err);
  assert.equal(code, exit);
};

writeFileSync(
  join(folder, "environment.ts"),
  `import { environments } from ${JSON.stringify(new URL("../../src/env/index.ts", import.meta.url).href)};
export default { ...environments.find((e) => e.name === "bandit").make(), name: "mine" };\n`,
);

test("an environment from a module, by --env or in a config: eval and --resume find it again", async () => {
  writeFileSync(
    join(folder, "config.ts"),
    `import env from "./environment.ts";\nexport default { env, engine: "tabular", iterations: 2, out: "runs/b" };\n`,
  );
  const begun = [
    await whetstone("train", "--env", "environment.ts", ...cheap, "--out", "runs/a"),
    await whetstone("train", "config.ts"),
  ];
  for (const { code, err } of begun) assert.equal(code, 0, err);
  for (const out of ["runs/a", "runs/b"]) {
    const measured = await whetstone("eval", out, "--tasks", "2");
    assert.equal(measured.code, 0, measured.err);
    const resumed = await whetstone("train", "--resume", "--out", out);
    assert.equal(resumed.code, 0, resumed.err);
  }
  const again = await whetstone("train", "config.ts", "--resume", "--out", "runs/b");
  assert.equal(again.code, 0, again.err);

  renameSync(join(folder, "environment.ts"), join(folder, "moved.ts"));
  oneLine(afresh("eval", "runs/a"), 2, /this run used a module\. Give --env FILE/);
  oneLine(afresh("train", "--resume", "--out", "runs/a"), 2, /this run used a module/);
  assert.equal((await whetstone("eval", "runs/a", "--env", "moved.ts", "--tasks", "2")).code, 0);
  const moved = await whetstone("train", "--resume", "--out", "runs/a", "--env", "moved.ts");
  assert.equal(moved.code, 0, moved.err);
});

test('a config whose folder holds a run already: its own "out" is named, and the command that goes on works', async () => {
  writeFileSync(
    join(folder, "twice.ts"),
    `export default { env: "contextual-bandit", engine: "tabular", iterations: 2, out: "runs/twice" };\n`,
  );
  assert.equal((await whetstone("train", "twice.ts")).code, 0);
  const again = await whetstone("train", "twice.ts");
  oneLine(again, 2, /^whetstone: twice\.ts, out: got runs\/twice, which already contains a run/);
  assert.match(again.err, /Begin another one with --out runs\/twice-2, or go on with that one/);
  const [, command = ""] = /go on with that one: .*(train --out \S+ --resume)\./.exec(again.err) ?? [];
  const resumed = await whetstone(...command.split(" "));
  assert.equal(resumed.code, 0, resumed.err);
  oneLine(
    await whetstone("train", "twice.ts", "--out", "runs/twice"),
    2,
    /^whetstone: --out: got runs\/twice/,
  );
});

test("what is cut short is said in one line", async () => {
  const begun = await whetstone("train", "--env", "bandit", ...cheap, "--out", "runs/cut");
  assert.equal(begun.code, 0, begun.err);
  const cut = (file: string): void => {
    const text = readFileSync(file);
    writeFileSync(file, text.subarray(0, text.length >> 1));
  };
  const run = join(folder, "runs", "cut");
  oneLine(await whetstone("eval", "runs/cut/run.json"), 2, /which is a file/);

  cut(join(run, "final", "tabular.json"));
  oneLine(await whetstone("eval", "runs/cut"), 1, /tabular\.json/);
  const checkpoints = join(run, "checkpoints");
  const last = join(checkpoints, readdirSync(checkpoints).sort().at(-1)!);
  cut(join(last, "models", "policy", "tabular.json"));
  oneLine(await whetstone("train", "--resume", "--out", "runs/cut"), 1, /tabular\.json/);
  cut(join(last, "state.json"));
  oneLine(await whetstone("train", "--resume", "--out", "runs/cut"), 1, /state\.json.*Delete/);
  cut(join(run, "run.json"));
  oneLine(await whetstone("eval", "runs/cut"), 1, /run\.json/);
  oneLine(await whetstone("train", "--resume", "--out", "runs/cut"), 1, /run\.json/);
});

test("options and files that cannot be", async () => {
  mkdirSync(join(folder, "empty"));
  const cases: [string[], RegExp][] = [
    [["train", "--env", "empty"], /got a folder, expected a module/],
    [["eval", "runs/a", "--tasks", "0", "--env", "bandit"], /--tasks: got "0".*1 or more/],
    [["eval", "runs/a", "--fail-under", ""], /--fail-under/],
    [["show", "x", "--limit", "0"], /--limit: got "0".*1 or more/],
    [["play", "facts", "--seed", "abc"], /--seed: got "abc"/],
    [["play", "facts", "--seed", "1.5"], /--seed: got "1\.5".*a whole number/],
    [["show", "x", "--store", "none"], /no file none|no store none/],
    [["eval", "x", "--store", "none"], /no file none|no store none/],
  ];
  for (const [args, words] of cases) oneLine(await whetstone(...args), 2, words);
});

test("a module in a package that npm init made CommonJS: the error names the package and the way out", () => {
  mkdirSync(join(folder, "theirs"));
  writeFileSync(join(folder, "theirs", "package.json"), '{ "name": "theirs", "type": "commonjs" }\n');
  writeFileSync(
    join(folder, "theirs", "env.ts"),
    'import { join } from "node:path";\nexport default { name: join("a", "b") };\n',
  );
  writeFileSync(join(folder, "theirs", "bare.ts"), "export default { name: 'a' };\n");
  writeFileSync(join(folder, "theirs.mts"), 'export { default } from "./theirs/env.ts";\n');
  const words = /an ES module, which \S*theirs.package\.json makes.*expected "type": "module" there.*\.mts/;
  for (const file of ["theirs/env.ts", "theirs/bare.ts", "theirs.mts"])
    oneLine(afresh("play", file), 2, words);
  oneLine(afresh("serve", "--openenv", "theirs/env.ts"), 2, words);
});

test("without ONNX Runtime, as npm leaves it where its script fails: what is missing, and how to bring it in", () => {
  const refuse = join(folder, "refuse.mjs");
  writeFileSync(
    refuse,
    `import { registerHooks } from "node:module";
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== "onnxruntime-node") return next(specifier, context);
    throw Object.assign(new Error("Cannot find package 'onnxruntime-node'"), { code: "ERR_MODULE_NOT_FOUND" });
  },
});\n`,
  );
  const args = ["--import", refuse, main, "train", "--env", "codewords", "--out", "runs/none"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  oneLine({ code: status, err: stderr }, 2, /onnxruntime-node.*ONNXRUNTIME_NODE_INSTALL=skip npm install/);
  assert.equal(existsSync(join(folder, "runs", "none")), false);
});

test("a file of a clone that imports the package by its name before it was built: the error says to build it", async () => {
  const dist = new URL("../../dist/no-such-part/index.js", import.meta.url).href;
  writeFileSync(join(folder, "unbuilt.ts"), `export { default } from ${JSON.stringify(dist)};\n`);
  oneLine(await whetstone("discover", "unbuilt.ts"), 2, /Build this clone of Whetstone first: npm run build/);
});
