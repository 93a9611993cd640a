import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-tasks-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const store = ["--store", join(folder, "store.sqlite")];

test("tasks shows the tasks that a run trained on, in words and as data; a wrong order or run is one clear error", async () => {
  const trained = await inProcess([
    ...["train", "--env", "contextual-bandit", "--engine", "tabular", "--iterations", "4"],
    ...["--out", join(folder, "run"), ...store],
  ]);
  assert.equal(trained.code, 0, trained.err);
  const shown = await inProcess(["tasks", "run", ...store, "--limit", "3"]);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /\d+ tasks in 4 iterations: .*(solved|frontier|unsolved)/);
  assert.match(shown.out, /task +episodes +success lately +change +reward +dead groups +last/);
  assert.match(shown.out, /were, in the last iteration\./);
  assert.match(shown.out, /more: --limit \d+/);
  const data = (await inProcess(["tasks", "run", ...store, "--limit", "1000", "--json"])).out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; episodes: number; solved: number });
  const tasks = data.filter(({ type }) => type === "task");
  const frontier = data.filter(({ type }) => type === "frontier");
  assert.equal(frontier.length, 4);
  assert.equal(tasks.reduce((n, { episodes }) => n + episodes, 0) % 4, 0);
  assert.ok(tasks.length > 3);
  const byProgress = async (run: string) =>
    (await inProcess(["tasks", run, ...store, "--order", "progress"])).out;
  assert.match(await byProgress("run"), /No task has a change yet/);
  const wrong = await inProcess(["tasks", "run", ...store, "--order", "easiest"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /hardest, progress, latest, most/);
  assert.equal((await inProcess(["tasks", "nothing", ...store])).code, 2);
  const again = await inProcess([
    ...["train", "--env", "bandit", "--engine", "tabular", "--iterations", "6", "--set", "tasks=200"],
    ...["--out", join(folder, "again"), ...store],
  ]);
  assert.equal(again.code, 0, again.err);
  assert.doesNotMatch(await byProgress("again"), /No task has a change yet/);
});
