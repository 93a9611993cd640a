import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import { above, balance, bestBalance, type ScoredAnswer, selected } from "./balance.ts";
import { balancedSampling, scoreOf } from "./balancedSampling.ts";

/** Answers "text:score", right ones with a score above 1. */
const answers = (...of: readonly string[]): ScoredAnswer[] =>
  of.map((said, i) => {
    const [text, score] = said.split(":") as [string, string];
    return { id: `${i}`, text, right: Number(score) > 1, score: Number(score) };
  });

test("the balance by hand: enough right ones, and few wrong ones", () => {
  // 2 of 4 wanted, 2 of 3 right: ½ · ⅔; 1 of 4, pure: ¼; none: 0
  const queries = [answers("a:1.1", "b:1.2", "c:0.1"), answers("a:1.1"), []];
  assert.ok(Math.abs(balance(queries, 4) - (1 / 3 + 1 / 4 + 0) / 3) < 1e-12);
  // more than enough counts as enough
  assert.equal(balance([answers("a:1.1", "b:1.1", "c:1.1")], 2), 1);
});

test("purity counts what was selected and not what was sampled", () => {
  const sampled = answers("a:1.1", "b:0.9", "c:0.1");
  assert.equal(balance(selected([sampled], 1, 9), 1), 1);
  assert.ok(balance(selected([sampled], 0.5, 9), 1) < 1);
});

test("equal texts are selected once, the best ones first, strictly above the threshold", () => {
  const got = above(answers("a:0.2", "b:0.9", "a:0.2", "c:0.5", "d:0.1"), 0.1);
  assert.deepEqual(
    got.map(({ id }) => id),
    ["1", "3", "0"],
  );
});

test("the cap is the smallest at which there are as many as asked for", () => {
  const queries = [answers("a:1", "b:1", "c:1", "d:1"), answers("a:1")];
  const sizes = (target: number) => selected(queries, 0, target).map(({ length }) => length);
  assert.deepEqual(sizes(1), [1, 1]);
  assert.deepEqual(sizes(3), [2, 1]);
  assert.deepEqual(sizes(4), [3, 1]);
  assert.deepEqual(sizes(99), [4, 1]);
});

test("the balance lies in [0, 1] and is 1 exactly where every query has enough right answers and no other", () => {
  const answer = fc.record({ id: fc.string(), text: fc.string(), right: fc.boolean(), score: fc.double() });
  fc.assert(
    fc.property(
      fc.array(fc.array(answer, { maxLength: 6 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 4 }),
      (queries, wanted) => {
        const b = balance(queries, wanted);
        assert.ok(b >= 0 && b <= 1 + 1e-12);
        const best = queries.every((own) => own.length >= wanted && own.every(({ right }) => right));
        assert.equal(b > 1 - 1e-12, best);
      },
    ),
    { seed: 5, numRuns: 100 },
  );
});

test("the best pair is found, of equals the first", () => {
  const cold = { temperature: 0.5, queries: [answers("a:1.1", "a:1.1", "a:1.1")] };
  const warm = { temperature: 1, queries: [answers("a:1.1", "b:1.1", "c:0.6")] };
  const options = { thresholds: [0, 0.5, 1], target: 8, wanted: 2 };
  assert.deepEqual(bestBalance([cold, warm], options), { temperature: 1, threshold: 1, balance: 1 });
  assert.deepEqual(bestBalance([cold, cold], options), { temperature: 0.5, threshold: 0, balance: 0.5 });
});

test("a score is 1 for a right answer and a fifth of its worst step", () => {
  const steps = [0.5, -1, 1].map((process) => turnOf([1], [2], { rewards: { process } }));
  const right = { end: { kind: "done", reason: "", success: true } as const };
  assert.equal(scoreOf(trajectoryOf("t", steps, right)), 0.8);
  assert.equal(scoreOf(trajectoryOf("t", steps)), -0.2);
  assert.equal(scoreOf(trajectoryOf("t", [turnOf([1], [2])], right)), 1);
});

test("the probe's answers at the chosen temperature are used, the others only counted", async () => {
  const asked: Play[] = [];
  const tasks = ["x", "y", "z", "w"].map((id) => ({ id, prompt: [], metadata: {}, seed: 1 }));
  const { units, trajectories, stats } = await balancedSampling({
    groupSize: 3,
    temperatures: [0.5, 1],
    probe: 0.25,
    target: 2,
    wanted: 2,
  })(
    ctxOf({
      tasks,
      random: randomStream(3),
      play: async (play) => {
        asked.push(play);
        // cold answers are all the same, warm ones differ; the third is wrong
        const i = play.attempt % 3;
        const content = play.temperature === 1 ? `a${i}` : "a0";
        const id = `${play.task}/${play.attempt}`;
        return [
          trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], {
            task: play.task as string,
            end: { kind: "done", reason: "", success: content !== "a2" },
          }),
        ];
      },
    }),
  );
  // one task at both temperatures, the other three at the chosen one
  assert.equal(asked.length, 3 * 2 + 3 * 3);
  assert.equal(trajectories.length, asked.length);
  assert.equal(new Set(asked.map(({ task, attempt }) => `${task} ${attempt}`)).size, asked.length);
  assert.equal(stats?.temperature, 1);
  assert.equal(stats?.balance, 1);
  assert.deepEqual(
    [...Map.groupBy(units, ({ group }) => group)].map(([task, own]) => [task, own.length]).toSorted(),
    [
      ["w", 2],
      ["x", 2],
      ["y", 2],
      ["z", 2],
    ],
  );
});
