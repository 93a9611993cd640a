/** Splits without tasks, and splits that are trained on: what is measured on them, and what it is called. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { openRunStore } from "../../src/store/runStore.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-splits-"));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const source = JSON.stringify(new URL("../../src/env/index.ts", import.meta.url).href);
/** The bandit with the splits that are named, of which some have no tasks. */
function environment(file: string, splits: readonly string[], empty: readonly string[]): string {
  writeFileSync(
    file,
    `import { environments } from ${source};
const bandit = environments.find((e) => e.name === "contextual-bandit").make();
const empty = ${JSON.stringify(empty)};
export default { ...bandit, name: "mine", splits: ${JSON.stringify(splits)}, tasks: (s) => empty.includes(s) ? [] : bandit.tasks(s) };\n`,
  );
  return file;
}

const none = environment("none.ts", ["train", "validation", "test"], ["test", "validation"]);
const one = environment("one.ts", ["train", "test", "far"], ["far"]);
const trained = environment("trained.ts", ["train"], []);
const compare =
  "compare grpo rloo --engine tabular --seeds 2 --iterations 1 --tasks 20 --no-tune --env".split(" ");

test("compare: where no held-out split has a task it refuses before any work; one of several is left out", async () => {
  const refused = await inProcess([...compare, none, "--out", "refused"]);
  assert.equal(refused.code, 2, refused.err);
  assert.equal(refused.err.trim().split("\n").length, 1, refused.err);
  assert.match(refused.err, /tasks\("test"\)/);
  assert.ok(!existsSync("refused"));
  const { code, err, out } = await inProcess([...compare, one, "--out", "left-out"]);
  assert.equal(code, 0, err);
  assert.match(err, /warning: tasks\("far"\) is empty/);
  assert.doesNotMatch(out, /NaN|: far/);
  assert.match(out, /## Held out: test/);
});

test("compare: a split that is trained on goes by its name, and shares stay within 0 and 100 %", async () => {
  const { code, err, out } = await inProcess([...compare, trained, "--out", "trained"]);
  assert.equal(code, 0, err);
  assert.match(err, /1 of 4: grpo, seed 1: success on train \(trained on\) \d/);
  assert.doesNotMatch(err, /held-out success/);
  assert.match(out, /## train \(trained on\)/);
  assert.doesNotMatch(out, /Held out/);
  assert.equal(
    readFileSync("trained/report.md", "utf8"),
    out.slice(out.indexOf("# "), out.indexOf("\nWritten")),
  );
});

test("train: splits without tasks are left out of evaluations and of the table; a run may measure on train alone", async () => {
  const train = async (env: string, out: string) =>
    await inProcess(["train", "--env", env, "--engine", "tabular", "--iterations", "1", "--out", out]);
  for (const [env, measured] of [
    [none, "train (trained on)"],
    [one, "test"],
  ] as const) {
    const { code, err, out } = await train(env, `runs/${env}`);
    assert.equal(code, 0, err);
    assert.match(`${out}${err}`, /tasks\("\w+"\) is empty: nothing is measured on it/);
    const rows = out.split("\n").filter((line) => /^\S.* (sampled|greedy) {2}/.test(line));
    assert.equal(rows.length, 2, out);
    for (const row of rows) assert.ok(row.startsWith(`${measured} `), row);
    assert.doesNotMatch(out, /NaN/);
  }
  // the outcome of each task, so that before and after can be compared task by task
  const store = await openRunStore("runs/whetstone.sqlite");
  try {
    const evaluations = await store.evaluations(resolve("runs/one.ts"));
    assert.equal(evaluations.length, 4);
    for (const { outcomes, tasks } of evaluations)
      assert.match(outcomes ?? "", new RegExp(`^[01]{${tasks}}$`));
  } finally {
    await store.close();
  }
});

test("eval: a split without tasks is refused, by its name, before anything is played", async () => {
  await inProcess(["train", "--env", one, "--engine", "tabular", "--iterations", "1", "--out", "runs/eval"]);
  const { code, err } = await inProcess(["eval", "runs/eval", "--split", "far"]);
  assert.equal(code, 2, err);
  assert.match(err, /^whetstone: --split: got far, which has no tasks/);
  assert.equal(err.trim().split("\n").length, 1, err);
  const held = await inProcess(["eval", "runs/eval", "--env", none]);
  assert.equal(held.code, 2, held.err);
  assert.match(held.err, /--split: got test, which has no tasks/);
});
