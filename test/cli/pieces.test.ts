import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { condense, curve, sparkline } from "../../src/cli/chart.ts";
import { sameFindings } from "../../src/cli/checkProtocol.ts";
import { comparisonTables } from "../../src/cli/comparisonReport.ts";
import { seconds } from "../../src/cli/durations.ts";
import { lineOf } from "../../src/cli/live.ts";
import { nodeTooOld } from "../../src/cli/nodeVersion.ts";
import { checkConfig, statedRun } from "../../src/cli/options.ts";
import { duration, folded, type Io, lateProgress, table } from "../../src/cli/output.ts";
import { successTable } from "../../src/cli/report.ts";
import { transcript } from "../../src/cli/transcript.ts";
import { stateLines } from "../../src/cli/versionText.ts";
import { WhetstoneError } from "../../src/core/errors.ts";
import type { Turn } from "../../src/core/types.ts";
import { defineEnvironment } from "../../src/env/environment.ts";
import { readEvidence } from "../../src/methods/evidence.ts";
import type { ReleaseState } from "../../src/release/controller.ts";
import type { ComparedMethod } from "../../src/train/compare.ts";

const fails = (work: () => unknown, code: string, words: RegExp): void => {
  assert.throws(work, (e) => {
    assert.ok(e instanceof WhetstoneError);
    assert.equal(e.code, code);
    assert.match(e.message, words);
    return true;
  });
};

const plainIo: Io = {
  json: false,
  debug: false,
  terminal: false,
  width: 80,
  code: 0,
  write: () => {},
  say: () => {},
  error: () => {},
  record: () => {},
};

test("times are read with their units, and nothing else", () => {
  assert.equal(seconds("--budget", "90s"), 90);
  assert.equal(seconds("--budget", "10m"), 600);
  assert.equal(seconds("--budget", "1h30m"), 5400);
  assert.equal(seconds("--budget", "1.5 h"), 5400);
  for (const wrong of ["", "10", "10x", "m", "0s", "-5m", "10m!", "x10m"]) {
    fails(() => seconds("--budget", wrong), "option.range", /--budget/);
  }
});

test("progress of what is over within two seconds is not told, and a line a quarter after that", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const said: string[] = [];
  const io = { json: true, error: (line: string) => void said.push(line) };
  const quick = lateProgress(io, "Episodes", 8);
  for (let k = 0; k < 8; k++) quick.one();
  quick.close();
  t.mock.timers.tick(3000);
  assert.deepEqual(said, []);
  const slow = lateProgress(io, "Episodes", 8);
  slow.one();
  t.mock.timers.tick(2000);
  for (let k = 1; k < 8; k++) slow.one();
  slow.close();
  assert.deepEqual(said, ["Episodes: 2 of 8", "Episodes: 4 of 8", "Episodes: 6 of 8", "Episodes: 8 of 8"]);
});

test("durations read well", () => {
  assert.deepEqual([0.42, 42.4, 185, 7800, Number.NaN].map(duration), [
    "0.4 s",
    "42 s",
    "3 min 05 s",
    "2 h 10 min",
    "–",
  ]);
});

test("the oldest Node", () => {
  assert.match(nodeTooOld("20.20.2") ?? "", /got Node 20\.20\.2, expected 22\.18\.0 or newer/);
  assert.equal(nodeTooOld("22.18.0"), undefined);
  assert.equal(nodeTooOld("24.0.0"), undefined);
});

test("options become numbers and are checked", () => {
  assert.deepEqual(statedRun({ seed: "2", learningRate: "3e-4", resume: true, json: true }), {
    seed: 2,
    resume: true,
    settings: { learningRate: 3e-4 },
  });
  fails(() => statedRun({ seed: "1.5" }), "option.range", /--seed: got "1\.5", expected a whole number\./);
  fails(() => statedRun({ iterations: "-1" }), "option.range", /--iterations/);
  fails(() => statedRun({ engine: "tabula" }), "option.range", /Did you mean tabular\?/);
});

test("a run says how much it trains, where that is known", () => {
  const begun = { run: "r", env: "facts", method: "grpo", seed: 1, out: "runs/r", iterations: 3 };
  assert.deepEqual(lineOf({ type: "start", ...begun, engine: "local", parameters: 438_016 }), [
    "r: grpo on facts, local engine, 438,016 parameters, seed 1",
  ]);
  assert.deepEqual(lineOf({ type: "start", ...begun, engine: "tinker", parameters: null }), [
    "r: grpo on facts, tinker engine, an adapter whose size only the server knows, seed 1",
  ]);
  assert.deepEqual(lineOf({ type: "start", ...begun, engine: "tabular", parameters: 0 }), [
    "r: grpo on facts, tabular engine, seed 1",
  ]);
});

test("an iteration that played nothing tells its loss, and no success", () => {
  const nothing = { reward: Number.NaN, success: Number.NaN, turns: Number.NaN, tokensPerSecond: 0 };
  const at = { type: "iteration", iteration: 1, iterations: 20, seconds: 0.1, secondsLeft: 2 } as const;
  assert.deepEqual(lineOf({ ...at, ...nothing, metrics: { failed: 0, "likelihood.loss": 9.7314 } }), [
    "iteration 1/20: loss 9.73, 2 s left",
  ]);
  assert.deepEqual(lineOf({ ...at, ...nothing, metrics: { failed: 8, "clippedRatio.loss": 0 } }), [
    "iteration 1/20: success –, reward –, – turns, 0 tokens/s, 2 s left",
  ]);
});

test("a config: an unknown key names the nearest known one", () => {
  assert.deepEqual(checkConfig({ env: "facts", settings: { tasks: 4 } }, "config.ts"), {
    env: "facts",
    settings: { tasks: 4 },
  });
  fails(
    () => checkConfig({ iteration: 3 }, "config.ts"),
    "config.invalid",
    /"iteration".*Did you mean iterations\?/,
  );
  fails(
    () => checkConfig({ settings: { learnRate: 1 } }, "config.ts"),
    "config.invalid",
    /"settings\.learnRate".*Did you mean learningRate\?/,
  );
  fails(() => checkConfig({ seed: "1" }, "config.ts"), "config.invalid", /config\.ts: seed/);
  fails(() => checkConfig({ evaluation: { taks: 1 } }, "config.ts"), "config.invalid", /evaluation/);
  const wrong: [unknown, RegExp][] = [
    [
      { warmStart: { updates: 0 } },
      /config\.ts: warmStart\.updates: got 0, expected a whole number of 1 or more/,
    ],
    [{ warmStart: { batch: 1.5 } }, /warmStart\.batch: got 1\.5/],
    [{ warmStart: { bacth: 1 } }, /"warmStart\.bacth".*Did you mean batch\?/],
    [{ warmStart: "yes" }, /warmStart: got "yes", expected true or false or an object of settings/],
    [{ warmStart: { drop: Number.NaN } }, /warmStart\.drop: got NaN, expected a number above 0/],
    [{ evaluation: { every: -1 } }, /evaluation\.every: got -1, expected a whole number of 0 or more/],
    [{ evaluation: { taks: 1 } }, /Did you mean tasks\?/],
    [{ seed: 1.5 }, /seed: got 1\.5, expected a whole number\./],
    [{ env: { name: "mine" } }, /environment "mine": splits: got nothing/],
    [{ env: 3 }, /env: got 3, expected a text or the name of an environment/],
  ];
  for (const [config, words] of wrong) fails(() => checkConfig(config, "config.ts"), "config.invalid", words);
  assert.deepEqual(checkConfig({ evaluation: { tasks: 0, every: 0 } }, "c"), {
    evaluation: { tasks: 0, every: 0 },
  });
  fails(() => checkConfig(3, "config.ts"), "config.invalid", /config\.ts/);
});

test("charts", () => {
  assert.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8), "▁▂▃▄▅▆▇█");
  assert.equal(sparkline([1, 1, Number.NaN], 8), "▄▄");
  assert.equal(sparkline([], 8), "");
  assert.deepEqual(condense([1, 3, 5, 7], 2), [2, 6]);
  assert.deepEqual(curve([], 40), []);
  const lines = curve([0, 10], 40, 2);
  assert.equal(lines[0], "      10 ┤ █");
  assert.equal(lines[1], "       0 ┤▁█");
});

test("tables: numbers to the right, words to the left", () => {
  assert.deepEqual(
    table(
      ["name", "n"],
      [
        ["a", "1"],
        ["bcdef", "200"],
      ],
    ),
    ["name     n", "a        1", "bcdef  200"],
  );
});

test("tables fit a terminal: long texts go over lines, then the last columns go", () => {
  const head = ["name", "what it is", "tasks", "when"];
  const rows = [["facts", "a search agent over real-world facts", "4000", "yesterday at noon"]];
  assert.deepEqual(table(head, rows, 57), [
    "name   what it is                tasks  when",
    "facts  a search agent over        4000  yesterday at noon",
    "       real-world facts",
  ]);
  assert.deepEqual(table(head, rows, 40), [
    "name   what it is                  tasks",
    "facts  a search agent over          4000",
    "       real-world facts",
  ]);
  assert.equal(table(head, rows).length, 2);
});

test("a line for people ends between words on a terminal, and is one line elsewhere", () => {
  const line = "  reduction: adds losses up (twice the row 2 times the gradient)";
  assert.deepEqual(folded({ terminal: true, width: 40 }, line), [
    "  reduction: adds losses up (twice",
    "      the row 2 times the gradient)",
  ]);
  assert.deepEqual(folded({ terminal: true, width: line.length }, line), [line]);
  assert.deepEqual(folded({ terminal: false, width: 40 }, line), [line]);
});

test("before and after stand in one row", () => {
  const at = (mean: number, when: "before" | "after") => ({
    type: "evaluation" as const,
    when,
    iteration: 0,
    split: "test",
    mode: "greedy" as const,
    success: { mean, low: mean - 0.05, high: mean + 0.05, n: 200 },
    reward: mean,
    turns: 3,
    tasks: 200,
    failed: 0,
    seconds: 1,
    trainedShare: 0,
  });
  const [, row] = successTable([at(0.4, "before"), at(0.9, "after")]);
  assert.match(
    row ?? "",
    /^test\s+greedy\s+40\.0 % \[35\.0, 45\.0\]\s+→\s+90\.0 % \[85\.0, 95\.0\]\s+\+50\.0\s+3 → 3\s+200$/,
  );
});

test("a transcript says each message once, and the credit of each turn", () => {
  const prompt = [{ role: "user" as const, content: "where" }];
  const turn = (k: number, said: Turn["prompt"]): Turn => ({
    role: "agent",
    model: "policy",
    version: "1",
    prompt: said,
    action: { role: "assistant", content: `go ${k}` },
    tokens: {
      prompt: Int32Array.of(1),
      action: Int32Array.of(2, 3),
      logp: Float32Array.of(-1, -1),
      behaviour: Float32Array.of(-1, -1),
    },
    spans: {},
    stop: "eos",
    rewards: k === 1 ? { outcome: 1 } : {},
    ms: 0,
  });
  const second = [
    ...prompt,
    { role: "assistant" as const, content: "go 0" },
    { role: "user" as const, content: "wall" },
  ];
  const lines = transcript(
    {
      trajectory: {
        id: "t",
        task: "t",
        episode: "e",
        role: "agent",
        origin: "sampled",
        turns: [turn(0, prompt), turn(1, second)],
        end: { kind: "done", reason: "arrived", success: true },
      },
      advantage: Float32Array.of(1, 0, -1, -2),
    },
    plainIo,
  );
  assert.deepEqual(lines, [
    "  user ‹ where",
    "  agent › go 0",
    "      turn 1: credit +0.5",
    "  user ‹ wall",
    "  agent › go 1",
    "      turn 2: credit -1.5, outcome 1",
    "  ✔ success: arrived",
  ]);
});

test("defineEnvironment names the field that does not fit", () => {
  const good = {
    name: "mine",
    summary: "",
    abilities: new Set<never>(),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 1, actionTokens: 1 },
    tasks: () => [],
    start: () => Promise.reject(new Error("not played")),
  };
  assert.equal(defineEnvironment(good), good);
  const wrong: [string, object][] = [
    ["name", { name: "" }],
    ["roles", { roles: [] }],
    ["splits", { splits: ["train", "train"] }],
    ["tasks", { tasks: [] }],
    ["start", { start: undefined }],
    ["limits\\.turns", { limits: { turns: 0, actionTokens: 1 } }],
    ["limits\\.actionTokens", { limits: { turns: 1, actionTokens: 1.5 } }],
    ["limits\\.seconds", { limits: { turns: 1, actionTokens: 1, seconds: -1 } }],
  ];
  for (const [field, part] of wrong)
    fails(() => defineEnvironment({ ...good, ...part }), "config.invalid", new RegExp(`: ${field}: got `));
});

test("a check that finds the same, seed by seed, is no further attempt", () => {
  const stored = readEvidence("turn-ppo")!;
  const found = (values: readonly number[]) => ({ ...stored, method: { ...stored.method, values } });
  const { values } = stored.method;
  assert.ok(sameFindings(stored, found(values.map((x) => x * (1 + 1e-7)))));
  assert.ok(!sameFindings(stored, found(values.map((x, i) => (i === 0 ? x + 0.001 : x)))));
  assert.ok(!sameFindings(stored, found(values.slice(1))));
});

test("a comparison and a judgement on a terminal of 80 columns: whole words, and no line beyond it", () => {
  const interval = { mean: 0.9212, low: 0.8871, high: 0.9553, n: 5 } as const;
  const method = (id: string): ComparedMethod => ({
    method: id,
    heldOut: { "unseen-chains": interval },
    training: interval,
    curve: [0.1, 0.5, 0.9],
    episodes: 10240,
    tokens: 1_200_000,
    seconds: 152,
    against: { "unseen-chains": { difference: interval, improvement: 0.9 } },
    runs: [],
  });
  const about = { env: "facts", engine: "local", seeds: [1, 2, 3, 4, 5], tuningSeeds: 0, iterations: 80 };
  const narrow = { ...plainIo, terminal: true };
  const comparison = { ...about, methods: [method("group-relative-policy"), method("leave-one-out")] };
  const live = (version: string): ReleaseState["live"][number] => ({
    version,
    name: version,
    share: 0.5,
    units: 0,
    open: 12,
  });
  const split = { id: "s", shares: { a: 0.5, b: 0.5 }, unit: "session", since: 0, why: "halves" } as const;
  const state = { split, baseline: "base-a601cc88", live: [live("base-a601cc88")], judgements: [] };
  const lines = [
    ...comparisonTables(comparison, narrow),
    ...stateLines(state, 2, 3_600_000, narrow),
    ...stateLines({ live: [], judgements: [] }, 2, 3_600_000, narrow),
  ];
  for (const line of lines) assert.ok(stripVTControlCharacters(line).length <= 80, line);
  const said = stripVTControlCharacters(lines.join(" "));
  for (const word of ["group-relative-policy", "difference", "base-a601cc88", "feedback", "calls;"])
    assert.ok(said.split(/\s+/).includes(word), `${word} in ${said}`);
});

test("a share stays with its interval where a cell or a line is broken", () => {
  const share = "97.9 % [88.0, 99.6] (trained on)";
  const rows = [["a-run-with-a-long-name-of-its-own", share, "done", "environment", "method", "local", "1"]];
  const lines = table(["run", "success %", "state", "env", "method", "engine", "seed"], rows, 80);
  assert.ok(lines.length > 2 && lines.every((line) => line.length <= 80));
  assert.match(lines.join("\n"), /97\.9 % \[88\.0, 99\.6\]/);
  assert.doesNotMatch(lines.join("\n"), /\u00a0/);
  const line = `${"word ".repeat(12)}success 50.0 % [40.0, 60.0], reward 1`;
  assert.match(folded({ terminal: true, width: 80 }, line).join("\n"), /50\.0 % \[40\.0, 60\.0\],/);
});
