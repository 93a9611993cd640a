import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../src/core/errors.ts";
import { randomStream } from "../../src/core/random.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { defineEnvironment, type Environment } from "../../src/env/environment.ts";
import { trajectoryComparison } from "../../src/env/toolWorld/trajectoryComparison.ts";
import { suites } from "../../src/suite/index.ts";
import { entangledRows } from "../../src/suite/multiturninstruct.ts";
import { cellsOf, suitePage } from "../../src/suite/report.ts";
import { meanRow, playParts, type SuiteOptions, type SuiteRow, shareRow } from "../../src/suite/suite.ts";

const options = (more: Partial<SuiteOptions> = {}): SuiteOptions => ({
  agent: "expert",
  mode: "sampled",
  random: randomStream(1),
  limit: (work) => work(),
  ...more,
});
const named = (rows: readonly SuiteRow[], name: string): SuiteRow => rows.find((row) => row.name === name)!;

/** Four tasks; "t2" breaks. Who says its number succeeds. */
const counting = (): Environment =>
  defineEnvironment({
    name: "counting",
    summary: "",
    abilities: new Set(["expert"] as const),
    roles: ["agent"],
    splits: ["test"],
    limits: { turns: 1, actionTokens: 1 },
    tasks: () =>
      [0, 1, 2, 3].map((seed) => ({
        id: `t${seed}`,
        prompt: [{ role: "user", content: "count" }],
        metadata: {},
        seed,
      })),
    start: async (task) => ({
      observe: async () => ({ role: "agent", observation: { messages: [] } }),
      act: async ({ content }) => {
        if (task.id === "t2") throw new Error("broken");
        return { end: { kind: "done", reason: "said", success: content === task.id } };
      },
    }),
    expert: (task) => task.id,
  });

test("playParts: every task of every part once, failures counted apart, progress told", async () => {
  const told: [number, number][] = [];
  const parts = [
    { environment: counting(), split: "test" },
    { environment: counting(), split: "test" },
  ];
  const { played, failed } = await playParts(
    parts,
    options({ progress: (...at) => void told.push(at), tasks: 3 }),
  );
  assert.equal(failed, 2);
  assert.deepEqual(
    played.map((part) => part.map((t) => t.task)),
    [
      ["t0", "t1"],
      ["t0", "t1"],
    ],
  );
  assert.deepEqual(told.at(0), [1, 6]);
  assert.deepEqual(told.at(-1), [6, 6]);
  await assert.rejects(
    () => playParts(parts, options({ agent: "flawed" })),
    (e) => isWhetstoneError(e) && e.code === "capability.missing" && /flawed player/.test(e.message),
  );
});

test("rows: a share with Wilson's interval, a mean with Student's; what was never measured is no 0", () => {
  const share = shareRow("s", "n", [true, false, true, true]);
  assert.equal(share.value.mean, 0.75);
  assert.equal(share.value.n, 4);
  assert.ok(share.value.low > 0.2 && share.value.high < 1);
  assert.deepEqual(cellsOf({ ...share, value: { mean: 0.75, low: 0.3, high: 0.954, n: 4 } }), [
    "n",
    "75.0 %",
    "30.0 % to 95.4 %",
    "4",
  ]);
  // t of 0.975 with two degrees is 4.303; deviation 1; half = 4.303 / √3 = 2.48
  assert.deepEqual(cellsOf(meanRow("s", "n", [1, 2, 3])), ["n", "2", "-0.484 to 4.48", "3"]);
  assert.deepEqual(cellsOf(shareRow("s", "n", [])), ["n", "–", "–", "0"]);
  assert.deepEqual(cellsOf(meanRow("s", "n", [7])), ["n", "7", "–", "1"]);
});

test("suites: distinct names, the expert passes, equal seeds give equal reports", async () => {
  assert.equal(new Set(suites.map((s) => s.name)).size, suites.length);
  for (const suite of suites) {
    const once = await suite.run(options({ tasks: 9 }));
    assert.deepEqual(await suite.run(options({ tasks: 9 })), once, suite.name);
    assert.equal(once.failed, 0);
    assert.ok(once.rows.length > 3);
    assert.match(
      suitePage(suite, { suite: suite.name, agent: "x", mode: "greedy", seed: 1, seconds: 1, ...once }),
      new RegExp(`^# ${suite.name}: x\n\n.*\n\nActions greedy, seed 1. Nothing failed.\n\n## `),
    );
  }
});

test("multiturninstruct: the expert has full marks; who obeys the last word remembers and does not integrate", async () => {
  const suite = suites.find((s) => s.name === "multiturninstruct")!;
  const [best, last] = [await suite.run(options()), await suite.run(options({ agent: "flawed" }))];
  for (const name of ["all", "level 3", "memory (BLEU-2)", "privacy"])
    assert.equal(named(best.rows, name).value.mean, 1, name);
  assert.equal(named(last.rows, "memory (BLEU-2)").value.mean, 1);
  assert.equal(named(last.rows, "level 2").value.mean, 1);
  assert.equal(named(last.rows, "privacy").value.mean, 0);
  assert.ok(named(last.rows, "level 3").value.mean < 0.3);
});

test("entangledRows: worked by hand", () => {
  const rows = entangledRows([
    { category: "lookup", level: 1, kept: true, memory: 1, unauthorised: 0, leaked: 0 },
    { category: "tracking", level: 2, kept: true, memory: 1, unauthorised: 0, leaked: 0 },
    { category: "trigger", level: 2, kept: false, memory: 0.5, unauthorised: 0, leaked: 0 },
    { category: "privacy", level: 3, kept: false, memory: 0.5, unauthorised: 1, leaked: 1 },
    { category: "privacy", level: 3, kept: true, memory: 1, unauthorised: 1, leaked: 0 },
  ]);
  const value = (name: string): number => named(rows, name).value.mean;
  assert.equal(value("all"), 3 / 5);
  assert.equal(value("level 2"), 1 / 2);
  // (1 + 1 + 0.5 + 0.5 + 1) / 5
  assert.equal(value("memory (BLEU-2)"), 0.8);
  assert.equal(value("privacy"), 1 / 2);
  // level 2: (1 − 1 + 0.5 − 0) / 2
  assert.equal(value("integration gap"), 0.25);
});

test("plan-rewardbench: the expert is always right, the longer one is not; a policy judges and its likelihood scores", async () => {
  const suite = suites.find((s) => s.name === "plan-rewardbench")!;
  const best = await suite.run(options({ tasks: 40 }));
  for (const name of ["all pairs", "mean over families", "same winner in both orders"])
    assert.equal(named(best.rows, name).value.mean, 1, name);
  assert.equal(named(best.rows, "position: first beyond ½").value.mean, 0);
  assert.ok(named(best.rows, "the longer one").value.mean < 0.8);
  const engine = tabularEngine();
  const vocabulary = trajectoryComparison().vocabulary!();
  const agent = await engine.create({ id: "policy", seed: 1, vocabulary, contextTokens: 4096 });
  const { rows, failed } = await suite.run(options({ agent, tasks: 40 }));
  assert.equal(failed, 0, "held to first and second, even a policy that knows nothing gives answers");
  const all = named(rows, "all pairs").value;
  assert.ok(all.n === 40 && all.mean > 0.2 && all.mean < 0.8);
  // every word is equally likely: all scores tie
  assert.equal(named(rows, "likelihood").value.mean, 0.5);
});
