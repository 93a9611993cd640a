import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Arm,
  type Check,
  defineCheck,
  type Measured,
  runCheck,
  settingsAtEdge,
} from "../../src/train/check.ts";
import type { MakeRuns, Unit } from "../../src/train/experiment.ts";
import { failsWith } from "../engine/local/support.ts";

/** An arm whose value is a function of its choice and seed. */
const arm = (what: string, value: (choice: number, seed: number) => number, episodes = 10): Arm => ({
  what,
  grid: [{ x: 0 }, { x: 1 }, { x: 2 }],
  measure: async (choice, seed) => ({
    value: value(choice.x as number, seed),
    cost: { episodes, tokens: 100 },
    curve: [0, value(choice.x as number, seed)],
  }),
});

const check = (baseline: Arm, method: Arm, more: Partial<Check> = {}): Check =>
  defineCheck({
    id: "tried",
    level: "table",
    claim: "more",
    metric: "value",
    direction: "higher",
    smallestEffect: 0.1,
    range: "unbounded",
    baseline,
    method,
    ...more,
  });

/** Makes runs in this process, and remembers which. */
function maker(of: Check, made: Unit[] = []): MakeRuns<Measured> {
  const arms = { baseline: of.baseline, method: of.method, ...of.others };
  return (units) =>
    Promise.all(
      units.map((unit) => {
        made.push(unit);
        const arm = arms[unit.arm as "baseline"];
        return arm.measure(arm.grid[unit.choice]!, unit.seed);
      }),
    );
}

/** ±1 by turns. */
const noise = (seed: number): number => (seed % 2 === 0 ? 1 : -1);

test("a check tunes each arm on seeds of their own and reports others", async () => {
  const of = check(
    arm("base", (x, seed) => (x === 1 ? 1 : 0) + 0.01 * noise(seed)),
    arm("new", (x, seed) => x + 0.02 * noise(seed)),
  );
  const made: Unit[] = [];
  const e = await runCheck(of, maker(of, made));
  assert.deepEqual(e.baseline.chosen, { x: 1 });
  assert.deepEqual(e.method.chosen, { x: 2 });
  assert.deepEqual([e.baseline.atEdge, e.method.atEdge], [false, true]);
  assert.deepEqual(e.seeds, [1, 2, 3, 4, 5, 6, 7, 8]);
  const [tuning, reported] = [made.filter((u) => u.seed >= 1e6), made.filter((u) => u.seed < 1e6)];
  assert.equal(tuning.length, 2 * 3 * 5);
  assert.equal(reported.length, 2 * 8);
  assert.ok(reported.every((u) => u.choice === (u.arm === "baseline" ? 1 : 2)));
  // differences 1 ± 0.01 by turns: mean 1
  assert.equal(e.verdict, "reproduced");
  assert.ok(Math.abs(e.effect - 1) < 1e-12);
  assert.ok(e.interval.low > 0.98 && e.interval.high < 1.02);
  assert.deepEqual(e.method.curve, [0, 2]);
});

test("an undecided check goes on to 20 seeds, once", async () => {
  const of = check(
    arm("base", () => 0),
    arm("new", (_, seed) => 0.1 + 0.4 * noise(seed)),
  );
  const e = await runCheck(of, maker(of));
  assert.equal(e.seeds.length, 20);
  assert.equal(e.verdict, "inconclusive");
});

test("a check that expects less looks for less; other seeds make other runs", async () => {
  const of = check(
    arm("base", (x) => 3 - x),
    arm("new", (x) => 1 - x),
    { direction: "lower", smallestEffect: 1 },
  );
  const e = await runCheck(of, maker(of), { base: 100 });
  assert.equal(e.verdict, "reproduced");
  assert.deepEqual(e.method.chosen, { x: 2 });
  assert.equal(e.effect, -2);
  assert.equal(e.seeds[0], 100);
});

test("a check without a difference is not reproduced", async () => {
  const same = (): Arm => arm("same", (_, seed) => seed);
  const e = await runCheck(check(same(), same()), maker(check(same(), same())));
  assert.equal(e.verdict, "not reproduced");
});

test("a check refuses grids of unequal size and unequal budgets, unless it says why", async () => {
  const few: Arm = { ...arm("few", () => 0), grid: [{ x: 0 }] };
  assert.throws(
    () =>
      check(
        few,
        arm("new", () => 1),
      ),
    failsWith("config.invalid", /grids of 1, 3/),
  );
  const dear = check(
    arm("base", () => 0),
    arm("dear", () => 1, 20),
  );
  await assert.rejects(runCheck(dear, maker(dear)), failsWith("config.invalid", /10 episodes.*20/));
  const said = { ...dear, unequalCost: "it draws twice" };
  assert.equal((await runCheck(said, maker(said))).unequalCost, "it draws twice");
});

test("others are measured beside the two and change nothing", async () => {
  const two = check(
    arm("base", () => 0),
    arm("new", () => 1),
  );
  const three: Check = { ...two, others: { ablation: arm("half", () => 0.5) } };
  const [e, f] = [await runCheck(two, maker(two)), await runCheck(three, maker(three))];
  assert.deepEqual({ ...f, others: undefined }, { ...e, others: undefined });
  assert.equal(f.others!.ablation!.values[0], 0.5);
});

test("a new check keeps the whole protocol: tuning seeds, tokens, and a baseline that can win and lose", async () => {
  const base = arm("base", (_, seed) => 0.3 + 0.01 * noise(seed));
  const better = arm("new", (_, seed) => 0.6 + 0.01 * noise(seed + 1));
  const isNew = { isNew: true };
  const fine = check(base, better);
  assert.equal((await runCheck(fine, maker(fine), isNew)).tuningSeeds, 5);
  const hasty = { ...fine, tuningSeeds: 2 };
  await assert.rejects(runCheck(hasty, maker(hasty), isNew), failsWith("config.invalid", /2 tuning seeds/));
  assert.equal((await runCheck(hasty, maker(hasty))).tuningSeeds, 2);
  const wordy: Arm = {
    ...better,
    measure: async (choice, seed) => ({
      ...(await better.measure(choice, seed)),
      cost: { episodes: 10, tokens: 150 },
    }),
  };
  const dear = { ...fine, method: wordy };
  await assert.rejects(runCheck(dear, maker(dear), isNew), failsWith("config.invalid", /100 tokens.*150/));
  const told = { ...dear, unequalCost: "it writes more" };
  assert.equal((await runCheck(told, maker(told), isNew)).verdict, "reproduced");
  const flat = check(
    arm("base", () => 0.3),
    better,
  );
  await assert.rejects(runCheck(flat, maker(flat), isNew), failsWith("config.invalid", /0\.3 in every seed/));
  const low: Check = { ...fine, range: [0.295, 1] };
  await assert.rejects(
    runCheck(low, maker(low), isNew),
    failsWith("config.invalid", /range from 0\.295 to 1/),
  );
});

test("a new check is refused where the baseline's median lies at an end of the range, whatever its mean; values alone", async () => {
  const isNew = { isNew: true };
  // seven seeds at about the ceiling, one that failed: a mean of 0.875, a median of 0.995
  const full = arm("base", (_, seed) => (seed === 3 ? 0.03 : 0.995 - 0.001 * (seed % 2)));
  const better = arm("new", (_, seed) => 0.999 - 0.001 * (seed % 3));
  const ceiling = check(full, better, { range: [0, 1] });
  await assert.rejects(
    runCheck(ceiling, maker(ceiling), isNew),
    failsWith("config.invalid", /median of 0\.99\d* in a range from 0 to 1/),
  );
  const open: Check = { ...ceiling, range: "unbounded" };
  assert.equal((await runCheck(open, maker(open), isNew)).seeds[0], 1);
});

test("a check states the range of its metric, or that it has none", () => {
  const of = check(
    arm("base", () => 0),
    arm("new", () => 1),
  );
  const { range: _, ...without } = of;
  for (const wrong of [without as Check, { ...of, range: [1, 0] } as const])
    assert.throws(() => defineCheck(wrong), failsWith("config.invalid", /range/));
});

test("the edge of a grid is judged for each setting by itself", () => {
  const grid = [30, 100, 300].flatMap((learningRate) =>
    [5, 15].map((imitated) => ({ learningRate, imitated, start: "cold" })),
  );
  const at = (learningRate: number, imitated: number) =>
    settingsAtEdge(grid, { learningRate, imitated, start: "cold" });
  // neither the first nor the last of the six choices
  assert.deepEqual(at(100, 5), ["imitated"]);
  assert.deepEqual(at(300, 5), ["learningRate", "imitated"]);
  const three = [1, 2, 3].map((strength) => ({ strength, fixed: 1 }));
  assert.deepEqual(settingsAtEdge(three, { strength: 2, fixed: 1 }), []);
  assert.deepEqual(settingsAtEdge(three, { strength: 1, fixed: 1 }), ["strength"]);
});
