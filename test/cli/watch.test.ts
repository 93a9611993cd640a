/** `whetstone train --watch`: audits by a judge in a file and by the environment, and a run that goes on with the same judge. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-watch-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Finds good what the environment does not pay for. */
const contrary = join(folder, "contrary.mjs");
writeFileSync(
  contrary,
  `export default { name: "contrary", score: async (items) => items.map(({ reply, trajectory }) => {
    if (typeof reply !== "string") throw new Error("a judge is asked about replies");
    const paid = trajectory.turns.reduce((sum, t) => sum + Object.values(t.rewards).reduce((a, b) => a + b, 0), 0);
    return { score: -paid };
  }) };`,
);

const train = (out: string, ...more: readonly string[]) =>
  inProcess([
    ...[
      "train",
      "--json",
      "--env",
      "bandit",
      "--engine",
      "tabular",
      "--learning-rate",
      "0.5",
      "--eval-tasks",
      "4",
    ],
    ...["--out", join(folder, out), ...more],
  ]);
const events = (out: string): Record<string, unknown>[] =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("a judge that finds bad what is paid for ends the run, which says so and stays ended when resumed", async () => {
  const { code, out, err } = await train("a", "--watch", contrary, "--iterations", "60");
  assert.equal(code, 0, err);
  const done = events(out).at(-1) as { iterations: number; health: { findings: { check: string }[] } };
  assert.ok(done.iterations < 60, `${done.iterations} iterations`);
  assert.ok(done.health.findings.some(({ check }) => check === "watch"));
  assert.match(err, /exploits what pays it.*Training ends here/);
  const again = await inProcess(["train", "--json", "--out", join(folder, "a"), "--resume"]);
  assert.equal(again.code, 0, again.err);
  assert.equal(events(again.out).at(-1)!.iterations, done.iterations);
  const onward = await inProcess([
    ...["train", "--json", "--out", join(folder, "a"), "--resume", "--on-alarm", "warn"],
  ]);
  assert.equal(onward.code, 0, onward.err);
  assert.equal(events(onward.out).at(-1)!.iterations, 60);
});

test("audits by the environment's own rewards leave a run alone that is paid by them", async () => {
  const { code, out, err } = await train(
    "b",
    "--watch",
    "environment",
    "--audits",
    "4",
    "--iterations",
    "20",
  );
  assert.equal(code, 0, err);
  const all = events(out).filter(({ type }) => type === "iteration") as { metrics: Record<string, number> }[];
  assert.equal(all.length, 20);
  assert.ok(all.every(({ metrics }) => metrics["watch.audited"] === 4 && metrics["watch.alarm"] === 0));
  const { watch } = JSON.parse(readFileSync(join(folder, "b", "run.json"), "utf8"));
  assert.deepEqual(watch, { audits: 4 });
});

test("audits without a watch, and a file that is no judge, are refused before anything runs", async () => {
  const alone = await train("c", "--audits", "4");
  assert.equal(alone.code, 2);
  assert.match(alone.err, /--audits.*--watch/s);
  const plain = join(folder, "plain.mjs");
  writeFileSync(plain, "export default 3;");
  const wrong = await train("d", "--watch", plain);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.err, /plain\.mjs.*evaluator with score/s);
});
