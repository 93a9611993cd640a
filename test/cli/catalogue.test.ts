/** Commands about methods, comparisons and exports. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ComparedRun, Comparison } from "../../src/train/compare.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-catalogue-"));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const whetstone = (...args: readonly string[]): ReturnType<typeof inProcess> => inProcess(args);

const records = ({ out }: { readonly out: string }): Readonly<Record<string, unknown>>[] =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

test("methods --json says of each method what scripts rely on", async () => {
  const all = records(await inProcess(["methods", "--json"]));
  assert.ok(all.length > 3);
  for (const m of all) {
    for (const key of ["id", "family", "slots", "needs", "baseline", "verdict", "effect", "interval"])
      assert.ok(key in m, `${m.id}: ${key}`);
  }
  const rloo = all.find((m) => m.id === "rloo")!;
  assert.deepEqual(rloo.slots, ["advantage", "objective"]);
});

test("methods: words find, filters narrow, what is not there is named", async () => {
  const found = records(await inProcess(["methods", "clip", "--json"]));
  assert.ok(found.some((m) => m.id === "cispo"));
  const api = await inProcess(["methods", "no GPU, only an API"]);
  assert.match(api.out, /^id +what it does +found because it/);
  assert.match(api.out, /^(gepa|bootstrap-few-shot) .*changes the prompt, not the weights/m);
  assert.ok(found.every(({ why }) => typeof why === "string" && why !== ""));
  const narrowed = records(
    await inProcess(["methods", "--family", "baseline", "--slot", "advantage", "--json"]),
  );
  assert.ok(narrowed.some((m) => m.id === "rloo") && narrowed.every((m) => m.family === "baseline"));
  const wrong = await inProcess(["methods", "--family", "basline"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /baseline/);
});

test("explain shows mechanism, mathematics, composition, evidence and a command", async () => {
  const { code, out } = await inProcess(["explain", "turn-ppo"]);
  assert.equal(code, 0);
  for (const title of ["Mechanism", "Mathematics", "Composition", "Evidence", "Try it"])
    assert.match(out, new RegExp(title));
  assert.match(out, /advantage {2}\w+/);
  const unknown = await inProcess(["explain", "turn-pp"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /turn-ppo/);
});

const small = "--env contextual-bandit --engine tabular --seeds 2 --iterations 3 --tasks 20".split(" ");

test("compare: equal budgets, paired intervals, a report; the same command goes on from what is there", async () => {
  const args = ["compare", "grpo", "rloo", ...small, "--no-tune", "--out", "both", "--json"];
  const ended = await whetstone(...args);
  assert.equal(ended.code, 0, ended.err);
  assert.match(ended.err, /2 methods × 2 seeds: 4 runs/);
  assert.match(ended.err, /Nothing is tuned/);
  const [report] = records(ended);
  const methods = report!.methods as { method: string; episodes: number; against?: object }[];
  assert.deepEqual(
    methods.map((m) => [m.method, m.episodes, m.against !== undefined]),
    [
      ["grpo", 384, false],
      ["rloo", 384, true],
    ],
  );
  assert.deepEqual(JSON.parse(readFileSync(join(folder, "both", "report.json"), "utf8")), {
    env: report!.env,
    engine: report!.engine,
    seeds: report!.seeds,
    tuningSeeds: 0,
    iterations: report!.iterations,
    weightFree: [],
    methods,
  });
  const lines = readFileSync(join(folder, "both", "runs.jsonl"), "utf8");
  assert.equal(lines.trim().split("\n").length, 4);
  const again = await whetstone(...args);
  assert.deepEqual(records(again), [report]);
  assert.equal(readFileSync(join(folder, "both", "runs.jsonl"), "utf8"), lines, "nothing was run again");
  const one = await whetstone("compare", "grpo");
  assert.equal(one.code, 2);
});

test("compare: every method is tuned unless it is said otherwise; raw data and code are kept", async () => {
  const args = ["compare", "grpo", "rloo", ...small, "--tuning-seeds", "1", "--out", "tuned", "--json"];
  const ended = await whetstone(...args);
  assert.equal(ended.code, 0, ended.err);
  assert.match(ended.err, /2 methods × 2 seeds, 6 more to tune: 10 runs/);
  assert.match(ended.err, /Tuned on 1 other seed: step sizes 0\.05, 0\.1, 0\.2\./);
  const kept = readFileSync(join(folder, "tuned", "runs.jsonl"), "utf8")
    .trim()
    .split("\n");
  const runs = kept.map((line) => JSON.parse(line).result as ComparedRun);
  assert.equal(runs.length, 10);
  const { methods } = records(ended)[0] as unknown as Comparison;
  const page = readFileSync(join(folder, "tuned", "report.md"), "utf8");
  for (const { method, tried = [], chosen, runs: reported } of methods) {
    assert.deepEqual(
      tried.map(({ choice }) => choice.learningRate),
      [0.05, 0.1, 0.2],
    );
    const tuning = runs.filter((run) => run.method === method && run.seed > 1e5);
    for (const [i, { training }] of tried.entries()) {
      const { curve } = tuning[i]!;
      assert.ok(Math.abs(training - curve.reduce((a, b) => a + b, 0) / curve.length) < 1e-12);
    }
    const best = tried.toSorted((a, b) => b.training - a.training)[0]!;
    assert.equal(
      best.training,
      tried.find(({ choice }) => choice.learningRate === chosen!.learningRate)!.training,
    );
    assert.deepEqual(
      reported.map(({ seed, heldOut }) => [seed, heldOut]),
      runs
        .filter((run) => run.method === method && run.seed <= 2)
        .map(({ seed, heldOut }) => [seed, heldOut]),
    );
    const shares = reported.map(({ heldOut }) => (100 * heldOut.test!).toFixed(1));
    assert.ok(page.includes(`| ${method} | test | ${shares.join(" | ")} |`), page);
    for (const { code } of reported) assert.match(code!, /^(commit [0-9a-f]{12}|whetstone \d)/);
  }
  assert.match(page, /Code: (commit [0-9a-f]{12}|whetstone \d)/);
  const fixed = await whetstone(
    "compare",
    "grpo",
    "rloo",
    ...small,
    "--set",
    "learningRate=0.3",
    "--out",
    "fixed",
  );
  assert.match(fixed.err, /: 4 runs.*\nNothing is tuned/, "a step size that is set is not tuned");
  const both = await whetstone(
    "compare",
    "grpo",
    "rloo",
    ...small,
    "--no-tune",
    "--rates",
    "1",
    "--out",
    "no",
  );
  assert.deepEqual([both.code, both.err.trim().split("\n").length], [2, 1], both.err);
});

test("compare: warns where methods are too near to the ceiling to be told apart", async () => {
  const bandit = new URL("../../src/env/bandit.ts", import.meta.url).href;
  writeFileSync(
    join(folder, "easy.ts"),
    `import { bandit } from ${JSON.stringify(bandit)};
const inner = bandit();
const start = async (...all) => {
  const episode = await inner.start(...all);
  const end = { kind: "done", reason: "always right", success: true };
  const act = async (action) => ({ ...(await episode.act(action)), rewards: { outcome: 1 }, end });
  return { observe: () => episode.observe(), act };
};
export default { ...inner, name: "easy", start };\n`,
  );
  const args = "--engine tabular --seeds 2 --iterations 1 --tasks 4 --no-tune --out easy".split(" ");
  const { code, err, out } = await whetstone("compare", "grpo", "rloo", "--env", "easy.ts", ...args);
  assert.equal(code, 0, err);
  assert.match(err, /warning: \w+: near the ceiling: grpo \(100\.0 %\), rloo \(100\.0 %\)/);
  assert.match(out, /What to mind:/);
});

test("compare: says what it is about to do, and a resumed one how long what is left takes", async () => {
  const made = (seconds: number): string => {
    const result = {
      method: "grpo",
      seed: 1,
      heldOut: { test: 0.5 },
      curve: [0.5],
      episodes: 3,
      tokens: 3,
      seconds,
    };
    return `${JSON.stringify({ name: "grpo-1, 3 iterations", result })}\n`;
  };
  mkdirSync(join(folder, "resumed"));
  writeFileSync(join(folder, "resumed", "runs.jsonl"), made(100));
  const { err } = await whetstone("compare", "grpo", "rloo", ...small, "--no-tune", "--out", "resumed");
  assert.match(
    err,
    /2 methods × 2 seeds: 4 runs of 3 iterations on contextual-bandit, tabular engine, kept in resumed\./,
  );
  assert.match(err, /1 of 4: grpo, seed 1: .*; about 5 min 00 s left/);
  assert.doesNotMatch(err, /No --env/);
  // an engine that cannot make a model: the plan is said, and nothing is run
  const none = new URL("../../src/engine/tabular/engine.ts", import.meta.url).href;
  writeFileSync(
    join(folder, "none.ts"),
    `import { tabularEngine } from ${JSON.stringify(none)};
export default { ...tabularEngine(), create: () => Promise.reject(new Error("no model")) };\n`,
  );
  const usual = await whetstone("compare", "grpo", "rloo", "--engine", "none.ts", "--out", "usual");
  assert.match(
    usual.err,
    /30 more to tune: 40 runs of 80 iterations on facts.*\nNo --env is named, so that facts is taken\./,
  );
  assert.match(
    usual.err,
    /Tuned on 5 other seeds: step sizes 0\.05, 0\.1, 0\.2\. --no-tune leaves that out\./,
  );
});

test("compare: with weights and without in one table, at one budget of episodes", async () => {
  const source = new URL("../../src/env/codewords.ts", import.meta.url).href;
  writeFileSync(
    join(folder, "codes.ts"),
    `import { codewords } from ${JSON.stringify(source)};
export default codewords({ questions: 12, same: true, says: true, length: 2, vocabulary: 3 });\n`,
  );
  const reader = fileURLToPath(new URL("../../examples/weight-free/codes-reader.ts", import.meta.url));
  const args = `compare grpo gepa --env codes.ts --engine ${reader} --episodes 100 --seeds 2 --tasks 12 --context-tokens 512 --rates 1 --tuning-seeds 1 --out kinds --json`;
  const ended = await whetstone(...args.split(" "));
  assert.equal(ended.code, 0, ended.err);
  const [report] = records(ended);
  assert.deepEqual([report!.episodes, report!.weightFree], [100, ["gepa"]]);
  const methods = report!.methods as {
    method: string;
    episodes: number;
    tokens: number;
    chosen?: object;
    heldOut: { test: { mean: number; n: number } };
    against?: { test: { difference: { n: number } } };
  }[];
  assert.deepEqual(
    methods.map(({ method, chosen, heldOut }) => [method, chosen, heldOut.test.n]),
    [
      ["grpo", { learningRate: 1 }, 2],
      ["gepa", undefined, 2], // what touches no weights has no step size
    ],
  );
  for (const { method, episodes, tokens } of methods) {
    // training ends with the iteration in which the budget does: of grpo, 96 episodes
    assert.ok(episodes >= 100 && episodes < 200, `${method}: ${episodes} episodes`);
    assert.ok(tokens >= 2 * episodes, `${method}: ${tokens} tokens`);
  }
  const [, gepa] = methods;
  assert.equal(gepa!.against!.test.difference.n, 2);
  // of nine codes one is right, for all questions alike; what is told is followed, but for one draw in fifty
  assert.ok(gepa!.heldOut.test.mean > 0.6, `${gepa!.heldOut.test.mean}`);
  assert.match(
    readFileSync(join(folder, "kinds", "report.md"), "utf8"),
    /\| `gepa`, no weights \| \d\d\.\d \[/,
  );
});

test("explain: how both arms were tuned, what they cost, and what benches found", async () => {
  const { out } = await whetstone("explain", "turn-ppo");
  const words = out.replaceAll(/\s+/g, " ");
  assert.match(
    words,
    /Opponent 0\.\d+ with learningRate \S+ of 0\.3, 1; lambda \S+ of .* \(960 episodes, [\d,]+ tokens a run\); method 0/,
  );
  assert.match(
    words,
    /Benches and arenas A transformer against GRPO, in facts-turn-level \(docs\/comparisons\/facts-turn-level\.md\)/,
  );
  const { benches } = JSON.parse((await whetstone("explain", "turn-ppo", "--json")).out);
  assert.ok(benches.some((found: { bench: string }) => found.bench === "facts-turn-level"));
});

test("check and export refuse what is not there", async () => {
  const unknown = await whetstone("check", "a-gra");
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /turn-ppo/);
  const nothing = await whetstone("export", "nowhere", "--to", "peft", "--out", "out");
  assert.equal(nothing.code, 2);
  assert.ok(!readdirSync(folder).includes("out"), "nothing is half written");
});

test("export writes a trained model's weights, an adapter where there is one", async () => {
  const train = "train --env contextual-bandit --iterations 1 --lora 2 --threads 1 --out adapted";
  const trained = await whetstone(...train.split(" "));
  assert.equal(trained.code, 0);
  assert.match(trained.out, /^ +whetstone init my-agent/m);
  assert.equal(
    (await whetstone("export", "adapted", "--to", "peft", "--base", "owner/base", "--out", "peft")).code,
    0,
  );
  assert.deepEqual(readdirSync(join(folder, "peft")).sort(), [
    "adapter_config.json",
    "adapter_model.safetensors",
  ]);
  const baseOf = (out: string) =>
    JSON.parse(readFileSync(join(folder, out, "adapter_config.json"), "utf8")).base_model_name_or_path;
  assert.equal(baseOf("peft"), "owner/base");
  // PEFT loads it from any folder: the base lies beside the adapter, is a folder that was trained on, or one that is named
  await whetstone("export", "adapted", "--to", "peft", "--out", "own");
  assert.equal(baseOf("own"), join(folder, "adapted", "final"));
  assert.equal((await whetstone("export", "adapted", "--to", "safetensors", "--out", "merged")).code, 0);
  await whetstone("export", "adapted", "--to", "peft", "--base", "merged", "--out", "stated");
  assert.equal(baseOf("stated"), join(folder, "merged"));
  const again =
    "train --env contextual-bandit --model merged --iterations 1 --lora 2 --threads 1 --out onTop";
  assert.equal((await whetstone(...again.split(" "))).code, 0);
  await whetstone("export", "onTop", "--to", "peft", "--out", "placed");
  assert.equal(baseOf("placed"), join(folder, "merged"));
  assert.ok(readdirSync(join(folder, "merged")).includes("model.safetensors"));
  // who is in a project already needs none
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies: { whetstone: "^0.1.0" } }));
  const inProject = await whetstone(
    ..."train --env contextual-bandit --iterations 1 --threads 1 --out whole".split(" "),
  );
  rmSync(join(folder, "package.json"));
  assert.doesNotMatch(inProject.out, /init my-agent/);
  const none = await whetstone("export", "whole", "--to", "peft", "--out", "none");
  assert.match(none.err, /a model without an adapter/);
  assert.ok(!readdirSync(folder).includes("none"), "a folder that was made for it is gone again");
  const full = await whetstone("export", "adapted", "--to", "safetensors", "--out", "merged");
  assert.match(full.err, /which contains files/);
  // what it was begun with is known again: an evaluation needs no options
  assert.equal((await whetstone("eval", "adapted", "--tasks", "5")).code, 0);
});
