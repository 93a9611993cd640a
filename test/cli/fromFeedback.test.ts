import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { inProcess } from "./inProcess.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "whetstone-feedback-"));
});
after(() => rm(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const ask = (content: string) => [{ role: "user", content }];
const say = (content: string) => [{ role: "assistant", content }];

/** Forty prompts, each with a pair and a demonstration. */
const rows = Array.from({ length: 40 }, (_, i) => {
  const prompt = ask(`question ${i}`);
  return [
    { prompt, chosen: say("stop now"), rejected: say("go on") },
    { prompt, completion: say("stop now") },
  ];
}).flat();

/** Nothing was played, so there is no success to tell, and nothing to say of its absence. */
function assertNothingPlayed(out: string, iterations: number): void {
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events
      .filter(({ type }) => type === "iteration")
      .map(({ success, reward, turns }) => [success, reward, turns]),
    Array.from({ length: iterations }, () => [null, null, null]),
  );
  const { health } = events.find(({ type }) => type === "done");
  assert.deepEqual(
    health.findings.filter(({ check }: { check: string }) => check === "rewarded"),
    [],
  );
}

test("import, train from it, export: what people said becomes a policy, and no copy of it stays in the run", async () => {
  await writeFile(at("rows.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const store = at("production.sqlite");
  const brought = await inProcess(["import", at("rows.jsonl"), "--from", "trl", "--store", store, "--json"]);
  assert.equal(brought.code, 0, brought.err);
  assert.match(brought.out, /"responses":\{"added":80,"known":0\}/);

  const out = at("runs/taught");
  const run = ["train", "--from-feedback", store, "--method", "sft", "--engine", "tabular", "--out", out];
  const trained = await inProcess([...run, "--iterations", "5", "--json"]);
  assert.equal(trained.code, 0, trained.err);
  assertNothingPlayed(trained.out, 5);
  const shown = await inProcess(["show", out, "--store", at("runs/whetstone.sqlite")]);
  assert.match(shown.out, /^likelihood\.loss, 5 iterations$/m);
  const begun = JSON.parse(await readFile(join(out, "run.json"), "utf8"));
  assert.equal(begun.env, "logged");
  assert.equal(begun.parts.feedback.store, store);
  const runs = await openRunStore(at("runs/whetstone.sqlite"));
  assert.deepEqual(await runs.trajectories(out), []);
  await runs.close();

  const pairs = ["--method", "dpo", "--engine", "tabular", "--iterations", "4", "--out", at("runs/paired")];
  const paired = await inProcess(["train", "--from-feedback", store, ...pairs, "--json"]);
  assert.equal(paired.code, 0, paired.err);
  assertNothingPlayed(paired.out, 4);

  const again = await inProcess(["train", "--out", out, "--resume", "--json"]);
  assert.equal(again.code, 0, again.err);

  const written = await inProcess([
    "export",
    "--to",
    "trl-preference",
    "--store",
    store,
    "--out",
    at("pairs.jsonl"),
  ]);
  assert.equal(written.code, 0, written.err);
  assert.equal((await readFile(at("pairs.jsonl"), "utf8")).trim().split("\n").length, 40);
});

test("what is missing is said: no store, no such examples, a run where data was meant", async () => {
  const none = await inProcess([
    "train",
    "--from-feedback",
    at("none.sqlite"),
    "--method",
    "sft",
    "--engine",
    "tabular",
    "--out",
    at("runs/none"),
  ]);
  assert.equal(none.code, 2);
  assert.match(none.err, /store: got .*none.sqlite, which is not there.*--from-feedback/);
  await (await openTrafficStore(at("empty.sqlite"))).close();
  const empty = await inProcess([
    "train",
    "--from-feedback",
    at("empty.sqlite"),
    "--method",
    "dpo",
    "--engine",
    "tabular",
    "--out",
    at("runs/empty"),
  ]);
  assert.equal(empty.code, 1);
  assert.match(empty.err, /no examples of the kind "pair"/);
  const both = await inProcess([
    "export",
    "some-run",
    "--to",
    "trl-preference",
    "--store",
    at("empty.sqlite"),
    "--out",
    at("x"),
  ]);
  assert.match(both.err, /"some-run" beside --to trl-preference/);
  const neither = await inProcess([
    "export",
    "--to",
    "peft",
    "--store",
    at("empty.sqlite"),
    "--out",
    at("x"),
  ]);
  assert.match(neither.err, /--to peft without a run/);
  const dry = await inProcess(["import", at("rows.jsonl"), "--from", "trl", "--dry-run"]);
  assert.match(dry.out, /Responses: 80 found\nSignals: 80 found\n.*--dry-run/);
});
