/** Opponents are read from the evidence alone; docs/methods.md says of each method what its evidence says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkFiles, designIn } from "../../src/cli/checkFiles.ts";
import { methods } from "../../src/methods/catalogue.ts";
import { readEvidence, type StoredEvidence } from "../../src/methods/evidence.ts";
import {
  caveatsOf,
  conditionsOf,
  type Design,
  isEqualBySeed,
  opponentsOf,
} from "../../src/methods/opponents.ts";
import type { ArmEvidence, CheckEvidence, Choice } from "../../src/train/check.ts";

const near = (a: number | undefined, b: number, tolerance = 1e-4): void =>
  assert.ok(a !== undefined && Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

const arm = (what: string, values: readonly number[], tokens = 100): ArmEvidence => ({
  what,
  chosen: {},
  tuning: [],
  atEdge: false,
  values,
  cost: { episodes: 10, tokens },
});

const made = (more: Partial<CheckEvidence>): CheckEvidence => ({
  id: "m",
  level: "table",
  claim: "",
  metric: "success",
  direction: "higher",
  smallestEffect: 0.01,
  verdict: "reproduced",
  effect: 0,
  interval: { mean: 0, low: 0, high: 0, n: 8 },
  seeds: [1, 2, 3, 4, 5, 6, 7, 8],
  baseline: arm("plain", [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2]),
  method: arm("method", [0.5, 0.7, 0.5, 0.7, 0.5, 0.7, 0.5, 0.7]),
  ...more,
});

test("a lead is the paired 97.5 % t interval over the seeds, worked by hand", () => {
  // differences 0.4, 0.5 in turn: mean 0.45, s = 0.0534522, t(7, 0.98750) = 2.84124, half = t s / √8 = 0.0536944
  const { baseline } = opponentsOf(made({}));
  near(baseline.lead.mean, 0.45);
  near(baseline.lead.low, 0.3963056);
  near(baseline.lead.high, 0.5036944);
});

test("lower is better: the lead has the sign of the improvement", () => {
  const { baseline } = opponentsOf(made({ direction: "lower" }));
  near(baseline.lead.mean, -0.45);
});

test("the ingredient: the best arm without it decides; variants have no say", () => {
  const equal = arm("without", [0.7, 0.5, 0.7, 0.5, 0.7, 0.5, 0.7, 0.5]);
  const weak = arm("weak", [0, 0.1, 0, 0.1, 0, 0.1, 0, 0.1]);
  const strong = arm("strong", [0.9, 0.95, 0.9, 0.95, 0.9, 0.95, 0.9, 0.95]);
  const others = { equal, weak, strong };
  assert.equal(opponentsOf(made({ others })).ingredient, "not asked");
  assert.equal(opponentsOf(made({ others, simpler: ["weak"] })).ingredient, "matters");
  assert.equal(opponentsOf(made({ others, simpler: ["weak", "equal"] })).ingredient, "not shown");
  assert.equal(opponentsOf(made({ others, simpler: ["weak", "strong"] })).ingredient, "simpler is better");
  assert.equal(opponentsOf(made({ others, simpler: ["weak", "baseline"] })).simpler?.name, "baseline");
  assert.equal(opponentsOf(made({ others, simpler: ["baseline", "equal"] })).simpler?.name, "equal");
  const [, better, alike] = conditionsOf(made({ others, simpler: ["weak"] }));
  assert.match(better!, /^Better than the method: "strong" by \+0\.325 \[\+0\.\d+, \+0\.\d+\]\.$/);
  assert.match(alike!, /^Not told apart from the method: "without", at 0 \[-0\.\d+, \+0\.\d+\]\.$/);
});

test("caveats: a baseline that never moves, unequal tokens, a grid's edge", () => {
  const flat = made({ baseline: arm("plain", Array(8).fill(0.3)) });
  assert.match(caveatsOf(flat).join(), /same value in every seed/);
  const dear = made({ method: arm("method", [0.5, 0.7, 0.5, 0.7, 0.5, 0.7, 0.5, 0.7], 240) });
  assert.match(caveatsOf(dear).join(), /2\.4 times the tokens/);
  const edge = made({
    baseline: { ...arm("plain", [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2]), atEdge: true },
  });
  assert.match(caveatsOf(edge).join(), /edge of its grid/);
  const still = made({ baseline: { ...made({}).baseline, tuning: [0.15, 0.15, 0.15] } });
  assert.match(caveatsOf(still).join(), /has 0\.15 with each of its 3 choices/);
  assert.deepEqual(caveatsOf(made({})), []);
});

test("caveats: the arm that decides on the ingredient may lie at the edge of its grid, others say nothing", () => {
  const low = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2];
  const others = {
    without: { ...arm("without", low), atEdge: true },
    more: { ...arm("more", low), atEdge: true },
  };
  const said = 'The best setting of "without" lies at the edge of its grid: a better one may lie beyond.';
  assert.deepEqual(caveatsOf(made({ others, simpler: ["without"] })), [said]);
  assert.deepEqual(caveatsOf(made({ others })), []);
  const grid = [{ learningRate: 1 }, { learningRate: 3 }];
  const tuned = { ...others.without, atEdge: false, chosen: grid[1]!, tuning: [0.1, 0.2] };
  const e = made({ others: { without: tuned }, simpler: ["without"] });
  const known: Design = { ...design([{}], [{}]), others: { without: { grid } } };
  assert.deepEqual(caveatsOf(e, known), [said.replace("setting", "learningRate")]);
});

test("caveats from the check itself: a setting at the edge of its own values, and a median at an end of the range", () => {
  const grid = [30, 100, 300].flatMap((learningRate) =>
    [1, 3].map((strength) => ({ learningRate, strength })),
  );
  const tuned = (chosen: Choice, values: readonly number[]): ArmEvidence => ({
    ...arm("plain", values),
    chosen,
    tuning: grid.map((_, i) => i / 10),
  });
  const low = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2];
  const inside = made({ baseline: tuned({ learningRate: 100, strength: 3 }, low) });
  assert.deepEqual(caveatsOf(inside), []);
  assert.deepEqual(caveatsOf(inside, design(grid, [{}])), [
    'The best strength of "plain" lies at the edge of its grid: a better one may lie beyond.',
  ]);
  // an edited grid is not the one that ran
  assert.deepEqual(caveatsOf(inside, design(grid.slice(1), [{}])), []);
  // seven of eight at the ceiling: the mean is 0.87
  const full = made({ baseline: arm("plain", [1, 1, 0.98, 1, 0.99, 0, 1, 1]) });
  assert.deepEqual(caveatsOf(full), []);
  assert.match(caveatsOf(full, design([{}], [{}])).join(), /median, 1, lies within 2 % of an end .* 0 to 1/);
});

test("words that were changed after the look are shown as they were", () => {
  const stated = { claim: "It wins.", metric: "success" };
  assert.match(caveatsOf({ ...made({}), stated }).join(), /the claim read: "It wins\."/);
});

test("an arm with the method's values is equal to it, and a check without further arms says so", () => {
  const { method } = made({});
  assert.match(conditionsOf(made({})).join(), /No further arm ran\./);
  const [, same, ...rest] = conditionsOf(made({ others: { same: { ...method, what: "same" } } }));
  assert.equal(same, 'Equal to the method in every seed: "same".');
  assert.deepEqual(rest, []);
  assert.ok(!isEqualBySeed(made({})));
  assert.ok(isEqualBySeed(made({ baseline: { ...method, what: "same" } })));
});

test("every check's values lie in the range of its metric", async () => {
  for (const { id, file } of checkFiles()) {
    const design = await designIn(file);
    const e = readEvidence(id);
    if (!design || design.range === "unbounded" || !e) continue;
    const [low, high] = design.range;
    for (const value of [e.baseline, e.method, ...Object.values(e.others ?? {})].flatMap((a) => a.values))
      assert.ok(value >= low - 1e-5 && value <= high + 1e-5, `${id}: ${value} is not in ${design.range}`);
  }
});

test("README.md counts what beats its opponent, and whose ingredient matters, as the evidence does", () => {
  const judged = methods
    .filter(({ family }) => family !== "baseline")
    .flatMap(({ id }) => readEvidence(id) ?? []);
  const won = judged.filter(({ verdict }) => verdict === "reproduced");
  const asked = judged.map((e) => opponentsOf(e).ingredient).filter((found) => found !== "not asked");
  const matters = asked.filter((found) => found === "matters");
  const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8").replaceAll(/\s+/g, " ");
  assert.ok(
    readme.includes(`${won.length} of ${judged.length} methods beat the opponent of their experiment`),
  );
  assert.ok(readme.includes(`matter in ${matters.length} of ${asked.length}.`));
});

/** Rows of docs/methods.md by id, cell by cell. */
const rows = new Map(
  readFileSync(join(import.meta.dirname, "../../docs/methods.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| [`"))
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /))
    .map((cells) => [/`([^`]+)`/.exec(cells[0]!)![1]!, cells]),
);

/** t quantiles from a table, at 7 and 19 degrees of freedom: a first design, and redesigns, each at half the error of the last. */
const quantiles: Readonly<Record<number, Readonly<Record<number, number>>>> = {
  0.975: { 8: 2.84124, 20: 2.43344 },
  0.9875: { 8: 3.33529, 20: 2.75859 },
  0.99375: { 8: 3.85523, 20: 3.07375 },
  0.996875: { 8: 4.40837, 20: 3.3826 },
};

/** Mean difference and half the width of its interval. */
function paired(
  a: readonly number[],
  b: readonly number[],
  confidence = 0.975,
): readonly [mean: number, half: number] {
  const d = a.map((x, i) => x - b[i]!);
  const mean = d.reduce((x, y) => x + y, 0) / d.length;
  const s = Math.sqrt(d.reduce((x, y) => x + (y - mean) ** 2, 0) / (d.length - 1));
  const t = quantiles[confidence]?.[d.length];
  assert.ok(t, `${d.length} seeds at ${confidence} are no planned look`);
  return [mean, (t * s) / Math.sqrt(d.length)];
}

const design = (baseline: readonly Choice[], method: readonly Choice[]): Design => ({
  baseline: { grid: baseline },
  method: { grid: method },
  range: [0, 1],
});

test("conditions: settings among their grid, costs, arms that are not beaten; an edited grid is not shown", () => {
  const [few, many] = [{ learningRate: 0.1 }, { learningRate: 0.3 }];
  const equal = arm("without", [0.7, 0.5, 0.7, 0.5, 0.7, 0.5, 0.7, 0.5]);
  const chosen = { chosen: many, tuning: [0.2, 0.4] };
  const e = made({
    tuningSeeds: 5,
    others: { equal },
    baseline: { ...made({}).baseline, ...chosen },
    method: { ...made({}).method, ...chosen, cost: { episodes: 1200, tokens: 0 } },
  });
  const [first, second] = conditionsOf(e, design([few, many], [few, many]));
  assert.equal(
    first,
    "Opponent 0.15 with learningRate 0.3 of 0.1, 0.3 (10 episodes, 100 tokens a run); method 0.6 with learningRate 0.3 of 0.1, 0.3 (1,200 episodes a run). Chosen on 5 other seeds.",
  );
  assert.match(second!, /^Not told apart from the method: "without", at 0 \[/);
  const [edited] = conditionsOf(e, design([few, few, few], [few]));
  assert.match(edited!, /learningRate 0.3, one of 2 choices/);
});

test("every row of docs/methods.md follows from the values seed by seed: opponent, verdict, effect, ingredient, level", () => {
  let recomputed = 0;
  for (const { id } of methods) {
    const e: StoredEvidence | undefined = readEvidence(id);
    const cells = rows.get(id);
    assert.ok(cells, `${id} has a row`);
    if (!e) {
      assert.equal(cells[3], "not run", id);
      continue;
    }
    const [, , , opponent, beats, effect, ingredient, level, seeds, attempts] = cells.map((cell) =>
      cell.replaceAll("\\|", "|"),
    );
    assert.equal(opponent, e.baseline.what, id);
    assert.deepEqual(
      [level, seeds, attempts],
      [e.level, String(e.method.values.length), String(e.attempts)],
      id,
    );
    const [mean, half] = paired(e.method.values, e.baseline.values, e.confidence);
    const stated = /^(\S+) \[(\S+), (\S+)\]/.exec(effect!)!.slice(1).map(Number);
    const close = (x: number, y: number): boolean =>
      Math.abs(x - y) <= 0.006 * Math.max(Math.abs(x), half) + 1e-9;
    assert.ok(
      [mean, mean - half, mean + half].every((x, i) => close(x, stated[i]!)),
      `${id}: ${effect} is not ${mean} ± ${half}`,
    );
    const sign = e.direction === "higher" ? 1 : -1;
    const [near, far] = [sign * mean - half, sign * mean + half];
    const verdict = e.method.values.every((x, i) => x === e.baseline.values[i])
      ? "equal"
      : near > 0 && sign * mean >= e.smallestEffect
        ? "yes"
        : far < e.smallestEffect || far <= 0
          ? "no"
          : "inconclusive";
    assert.equal(beats, verdict, id);
    const leads = (e.simpler ?? []).map((name) => {
      const arm = name === "baseline" ? e.baseline : e.others![name]!;
      return paired(e.method.values, arm.values, e.confidence);
    });
    const [least] = leads.map(([lead, h]) => [sign * lead, h] as const).sort((a, b) => a[0] - b[0]);
    const asked = !least
      ? "not asked"
      : least[0] + least[1] < 0
        ? "simpler is better"
        : least[0] - least[1] > 0 && least[0] >= e.smallestEffect
          ? "matters"
          : "not shown";
    assert.ok(ingredient!.startsWith(asked), `${id}: ${ingredient} is not ${asked}`);
    recomputed++;
  }
  assert.ok(recomputed >= 80, `${recomputed} rows were recomputed`);
});
