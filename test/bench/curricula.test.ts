/** The report on curricula: how step sizes are chosen, what counts as a difference, and that the page is what the raw runs say. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { resultsOf, rowsOf, tablesOf, verdictOf } from "../../bench/curricula/page.ts";
import { pieces } from "../../bench/curricula/pieces.ts";
import {
  type CurriculaRun,
  contestants,
  curriculaRun,
  idleGroups,
  leftOut,
  nextRate,
  optionsOf,
  reportedSeeds,
  successOf,
  tuningSeeds,
} from "../../bench/curricula/run.ts";
import { worlds } from "../../bench/curricula/worlds.ts";
import { withMeasured } from "../../bench/feedback/page.ts";
import { keptRows } from "../../bench/keptRows.ts";
import type { Unit } from "../../src/core/types.ts";
import { findMethod, methods } from "../../src/methods/catalogue.ts";

const root = join(import.meta.dirname, "../..");
const [secrets, chains] = worlds as [(typeof worlds)[0], (typeof worlds)[0]];

const run = (rate: number, success: number, more: Partial<CurriculaRun> = {}): CurriculaRun => ({
  ...{ world: "secrets", method: "grpo", rate, seed: 811, curve: [success] },
  ...{ wrong: 0.5, right: 0.25, idle: 0.75, episodes: 4800, tokens: 14_400, ...more },
});

/** Tries step sizes until one is chosen, where `success` says what each comes to. */
function tuned(success: (rate: number) => number) {
  const tried: CurriculaRun[] = [];
  let next = nextRate(tried);
  while (next.kind === "try") {
    tried.push(run(next.rate, success(next.rate)));
    next = nextRate(tried);
  }
  return { ...next, tried: tried.map(({ rate }) => rate) };
}

test("everybody begins with four step sizes, and more are tried while the best is at an end", () => {
  assert.deepEqual(
    tuned((rate) => -Math.abs(Math.log(rate / 100))),
    {
      ...{ kind: "chosen", rate: 100, isAtEnd: false, tried: [10, 30, 100, 300] },
    },
  );
  const small = tuned((rate) => -Math.abs(Math.log(rate / 3)));
  assert.deepEqual([small.rate, small.isAtEnd, small.tried.slice(4)], [3, false, [3, 1]]);
  const large = tuned((rate) => rate);
  assert.deepEqual([large.rate, large.isAtEnd, large.tried.slice(4)], [10_000, true, [1000, 3000, 10_000]]);
});

test("of equal step sizes the smaller is chosen, by the mean over the tuning seeds", () => {
  assert.equal(tuned((rate) => (rate === 30 || rate === 100 ? 0.5 : 0)).rate, 30);
  const runs = [10, 30, 100, 300].flatMap((rate) => [
    run(rate, rate === 30 ? 0.9 : 0.5),
    run(rate, rate === 30 ? 0 : 0.5, { seed: 812 }),
  ]);
  // 30 has a mean of 0.45; 10 is the first of the others, at an end
  assert.deepEqual(nextRate(runs), { kind: "try", rate: 3 });
});

test("a difference is shown where the interval leaves out 0; none is, where it lies within five points", () => {
  assert.equal(verdictOf({ low: 0.001, high: 0.02 }), "ahead");
  assert.equal(verdictOf({ low: -0.2, high: -0.001 }), "behind");
  assert.equal(verdictOf({ low: -0.049, high: 0.049 }), "as good");
  assert.equal(verdictOf({ low: 0, high: 0 }), "as good");
  assert.equal(verdictOf({ low: -0.051, high: 0.01 }), "not told apart");
});

test("a group is without advantage where no token of its attempts has one", () => {
  const unit = (id: string, group: string): Unit => ({ id, group, members: [id] });
  const units = [unit("a", "1"), unit("b", "1"), unit("c", "2"), unit("d", "2"), unit("e", "3")];
  const experience = { trajectories: [], units };
  const advantages = new Map([
    ["a", new Float32Array([0, 1])],
    ["b", new Float32Array([0])],
    ["c", new Float32Array([0, 0])],
  ]);
  // group 1 has one; of group 2 one attempt has zeros and the other is not trained on; group 3 has nobody to compare with
  assert.equal(idleGroups({ experience, advantages }), 0.5);
  assert.equal(idleGroups({ experience: { ...experience, units: [unit("e", "3")] }, advantages }), undefined);
});

test("every curriculum is measured, or left out with a reason", () => {
  const family = methods.filter((recipe) => recipe.family === "curriculum").map(({ id }) => id);
  const more = ["grpo", ...pieces.map(({ id }) => id)];
  const named = [
    ...contestants.map(({ id }) => id).filter((id) => !more.includes(id)),
    ...Object.keys(leftOut),
  ];
  assert.deepEqual(named.toSorted(), family.toSorted());
  for (const { idle } of worlds) for (const id of Object.keys(idle)) assert.ok(named.includes(id), id);
});

test("a run ends with the iteration that uses the tokens up, and has ten points", async () => {
  const small = { ...secrets, tokens: 300 };
  const done = await curriculaRun(findMethod("grpo"), small, 30, 7);
  assert.ok(done.tokens >= 300 && done.tokens < 300 + 48 * 4, `${done.tokens}`);
  assert.equal(done.curve.length, 10);
  assert.ok(done.wrong + done.right <= 1 && done.idle >= done.wrong);
  const again = await curriculaRun(findMethod("grpo"), small, 30, 7);
  assert.deepEqual(again, done);
});

test("a curriculum without anything to act on is a uniform choice", async () => {
  const small = { ...chains, tokens: 500 };
  const of = async (id: string) => (await curriculaRun(findMethod(id), small, 100, 7)).curve;
  const uniform = await of("grpo");
  for (const id of ["cog-drift", "ghpo-hints"]) assert.deepEqual(await of(id), uniform, id);
});

test("schedules are parts of the run", () => {
  assert.deepEqual(optionsOf("currreft", secrets), { perStage: 20, imitateFrom: 90 });
  assert.deepEqual(optionsOf("d3s", chains), { relaxOver: chains.iterations });
  assert.deepEqual(optionsOf("pcl", chains), {});
});

const raw = join(root, "bench/results/curricula.jsonl");
const runs = keptRows<CurriculaRun>(raw);

test("the page and its data say what the raw runs say", () => {
  assert.ok(existsSync(raw));
  const page = readFileSync(join(root, "docs/comparisons/curricula.md"), "utf8");
  assert.equal(withMeasured(page, tablesOf(runs), "bench/curricula.ts"), page);
  const data: unknown = JSON.parse(readFileSync(join(root, "docs/comparisons/curricula.json"), "utf8"));
  assert.deepEqual(data, JSON.parse(JSON.stringify(resultsOf(runs))));
});

test("every reported run has its budget, and its seed tuned nothing", () => {
  const tuning: readonly number[] = tuningSeeds;
  assert.ok(reportedSeeds.every((seed) => !tuning.includes(seed)));
  for (const world of worlds) {
    for (const { method, rate, runs: own, lead } of rowsOf(runs, world)) {
      assert.deepEqual(
        own.map(({ seed }) => seed),
        reportedSeeds,
      );
      for (const one of own) {
        assert.equal(one.rate, rate);
        assert.ok(one.tokens >= world.tokens && one.tokens < 1.06 * world.tokens, `${method}: ${one.tokens}`);
        assert.equal(one.curve.length, 10);
        assert.ok(successOf(one) >= 0 && successOf(one) <= 1);
      }
      assert.equal(lead.n, reportedSeeds.length);
      if (method === "grpo") assert.equal(lead.mean, 0);
    }
  }
});
