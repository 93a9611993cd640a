import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chosenRate, meanSuccess, overSeeds, successAt } from "../../bench/feedback/aggregate.ts";
import { chart } from "../../bench/feedback/chart.ts";
import { contestants } from "../../bench/feedback/contestants.ts";
import { keptIn } from "../../bench/feedback/kept.ts";
import { table, withMeasured } from "../../bench/feedback/page.ts";
import { counted, measured, type Run } from "../../bench/feedback/run.ts";
import { worlds } from "../../bench/feedback/worlds.ts";
import { randomStream } from "../../src/core/random.ts";
import type { BenchResult } from "../../src/methods/benchResults.ts";
import { inverses } from "../../src/worlds/inverses.ts";

const key = { world: "lock", method: "grpo", accuracy: 1, learningRate: 300, seed: 1, budget: 8 };
const run = (points: Run["points"], more: Partial<Run> = {}): Run => ({
  ...key,
  points,
  outcomes: 8,
  critiques: 0,
  ...more,
});

test("success at a budget is that of the last policy that had not spent more", () => {
  const done = run([
    [0, 0.1],
    [3, 0.4],
    [6, 0.7],
    [9, 1],
  ]);
  assert.deepEqual(
    [0, 2, 3, 5, 8].map((feedback) => successAt(done, feedback)),
    [0.1, 0.1, 0.4, 0.4, 0.7],
  );
  // at 2, 4, 6 and 8: (0.1 + 0.4 + 0.7 + 0.7) / 4
  assert.ok(Math.abs(meanSuccess(done, 4) - 0.475) < 1e-12);
});

test("intervals are over seeds, of the success at that budget", () => {
  const runs = [0.2, 0.4].map((success) =>
    run([
      [0, 0],
      [4, success],
    ]),
  );
  const { mean, low, high, n } = overSeeds(runs, 8);
  // deviation √0.02, over √2 runs: 0.1; t(0.975, 1) = 12.706
  assert.ok(Math.abs(mean - 0.3) < 1e-12 && n === 2);
  assert.ok(Math.abs(high - low - 2 * 1.2706) < 1e-3);
  assert.equal(overSeeds(runs, 3).mean, 0);
});

test("the step size with the best mean wins, the smaller of equals, and the grid's edge is told", () => {
  const tried = (learningRate: number, ...successes: number[]): Run[] =>
    successes.map((success) => run([[0, success]], { learningRate }));
  const middle = chosenRate([...tried(1000, 0.5), ...tried(100, 0.2, 0.4), ...tried(300, 0.3, 0.9)]);
  assert.deepEqual(middle, { learningRate: 300, edge: false }); // 0.5, 0.3 and 0.6
  const equal = chosenRate([...tried(300, 0.5), ...tried(100, 0.5)]);
  assert.deepEqual(equal, { learningRate: 100, edge: true });
});

test("a ledger counts what is told: every paid answer or the last one alone, and every critique", async () => {
  for (const each of [true, false]) {
    const ledger = { outcomes: 0, critiques: 0 };
    const environment = counted(inverses({ slip: 0, each: 1 }), ledger, each);
    const task = environment.tasks("train")[0]!;
    const episode = await environment.start(task, randomStream(1));
    const first = await episode.act({ content: "1", stop: "eos" });
    await episode.act({ content: "1", stop: "eos" });
    assert.deepEqual(first.rewards, each ? { outcome: 1 } : undefined);
    assert.deepEqual(ledger, { outcomes: each ? 2 : 1, critiques: 0 });
  }
});

test("finished runs are found again, and a line that was cut off is dropped", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "whetstone-kept-")), "runs.jsonl");
  const done = run([[0, 0.5]]);
  (await keptIn(path)).add(done);
  writeFileSync(path, `${readFileSync(path, "utf8")}{"world":"lo`);
  const kept = await keptIn(path);
  assert.deepEqual(kept.find(key), done);
  assert.equal(kept.find({ ...key, seed: 2 }), undefined);
  kept.add(run([[0, 0.6]], { seed: 2 }));
  assert.equal(readFileSync(path, "utf8").trim().split("\n").length, 2);
});

test("a table has a row for each accuracy, differences by seed, and says what does not apply", () => {
  const [grpo, critiqueGrpo] = contestants;
  const score = contestants.find(({ twice }) => twice)!;
  const rate = { learningRate: 300, edge: false };
  const at = (...successes: number[]): Run[] => successes.map((success) => run([[0, success]]));
  const told = run([[0, 0.75]], { outcomes: 6, critiques: 2 });
  const text = table({
    world: { ...worlds[2]!, budget: 8 },
    entries: [
      { contestant: grpo!, came: { rate, runs: new Map([[1, at(0.25, 0.25)]]) } },
      { contestant: critiqueGrpo!, came: { rate, runs: new Map([[0.6, [told, told]]]) } },
      { contestant: score, came: "does not apply" },
    ],
  });
  const rows = text.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const own = "25.0 [25.0, 25.0]";
  const theirs = "75.0 [75.0, 75.0]";
  assert.deepEqual(rows[2]!.slice(1, -1), [grpo!.name, "none", own, own, own, own, "", "0 %", "300"]);
  assert.deepEqual(rows[3]!.slice(1, -1), [
    ...[critiqueGrpo!.name, "60 %", theirs, theirs, theirs, theirs, "50.0 [50.0, 50.0]", "25 %", "300"],
  ]);
  assert.deepEqual(rows[4]!.slice(1, 3), ["SCoRe", "does not apply"]);
});

test("the measured part of a page is replaced, and what is written around it stays", () => {
  const page = withMeasured(
    "a\n<!-- measured: written by bench/feedback.ts -->\nold\n<!-- end of what is measured -->\nb\n",
    "new",
  );
  assert.match(page, /^a\n<!-- .* -->\n\nnew\n\n<!-- .* -->\nb\n$/);
  assert.throws(() => withMeasured("nothing", "new"), /lacks the lines/);
});

test("a chart has a line for each method, at its place", () => {
  const lines = [
    {
      name: "one",
      dashed: true,
      points: [
        [0, 0],
        [8, 1],
      ] as const,
    },
  ];
  const svg = chart([[{ title: "here", budget: 8, lines }]]);
  // left 46, width 250; top 58, height 150
  assert.ok(svg.includes('d="M46 208L296 58"'));
  assert.ok(svg.includes("stroke-dasharray"));
});

test("policies begin with what their priors come to, and equal seeds give equal runs within the budget", async () => {
  const start = { codewords: 0.25 ** 4, inverses: 0.1, lock: 0.4 ** 6 };
  const go = (of: (typeof worlds)[number], id: string) => {
    const contestant = contestants.find((c) => c.id === id)!;
    const own = { ...key, world: of.name, method: id, budget: 128 };
    return measured(of, contestant, own, new AbortController().signal);
  };
  for (const of of worlds) {
    const done = await go(of, "r3l");
    assert.deepEqual(done, await go(of, "r3l"));
    assert.ok(Math.abs(done.points[0]![1] - start[of.name as keyof typeof start]) < 1e-4, of.name);
    assert.ok(done.critiques > 0 && done.outcomes >= done.critiques);
    assert.equal(done.points.at(-1)![0], done.outcomes + done.critiques);
    assert.ok(done.points.at(-1)![0] >= 128 && (done.points.at(-2)?.[0] ?? 0) < 128);
  }
  // at each place 0.25 · 0.9 + 0.75 · (0.1 / 7) = 0.2357
  const twice = await go(worlds[0]!, "score-self-correct");
  assert.ok(Math.abs(twice.points[0]![1] - 0.2357 ** 4) < 1e-4);
  assert.equal(twice.critiques, 0);
  assert.ok(twice.first !== undefined);
});

test("the differences of the report as data are those of its raw runs and of its page", () => {
  const root = join(import.meta.dirname, "../..");
  const kept = readFileSync(join(root, "bench/results/feedback.jsonl"), "utf8").split("\n").filter(Boolean);
  const runs = kept.map((line): Run => JSON.parse(line)).filter(({ seed }) => seed <= 100);
  const page = readFileSync(join(root, "docs/comparisons/feedback-budget.md"), "utf8");
  const stated: BenchResult[] = JSON.parse(
    readFileSync(join(root, "docs/comparisons/feedback-budget.json"), "utf8"),
  );
  assert.equal(stated.length, 38);
  for (const { method, world, effect } of stated) {
    const [name, percent] = world.split(" with critiques true in ");
    const of = (id: string, accuracy: number): number[] =>
      runs
        .filter((r) => r.world === name && r.method === id && r.accuracy === accuracy)
        .sort((a, b) => a.seed - b.seed)
        .map((r) => meanSuccess(r));
    const [ours, theirs] = [of(method, percent ? Number.parseInt(percent, 10) / 100 : 1), of("grpo", 1)];
    const difference = ours.reduce((sum, x, i) => sum + x - theirs[i]!, 0) / 8;
    assert.equal(ours.length, 8, world);
    assert.ok(Math.abs(difference - effect.mean) < 1e-6, `${method}, ${world}`);
    const text = [effect.mean, effect.low, effect.high].map((x) => (100 * x).toFixed(1));
    assert.ok(page.includes(`${text[0]} [${text[1]}, ${text[2]}]`), `${method}, ${world}: ${text}`);
  }
});
