import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ctx, Helper } from "../../src/core/context.ts";
import type { EnvironmentEvaluator } from "../../src/core/evaluator.ts";
import type { Json } from "../../src/core/json.ts";
import { type Compared, comparedReward } from "../../src/feedback/comparedReward.ts";
import { ctxWith, trajectoryOf, turnOf } from "../core/make.ts";

/** A helper that predicts the length of the reply, and shows what it was fitted to. */
function recording(environment: Partial<EnvironmentEvaluator>) {
  const fits: string[][] = [];
  const helper: Helper<Compared, number | null, number> = {
    async fit(rows) {
      fits.push(rows.map(({ x, y }) => `${x.first.asked}: ${x.first.replied} | ${x.second?.replied}: ${y}`));
      return {};
    },
    predict: async (xs) => xs.map(({ first }) => (first.replied === "?" ? Number.NaN : first.replied.length)),
  };
  const memory = new Map<string, Json>();
  const ctx = ctxWith(environment, {
    // the test's own helper has the types that the piece asks for
    helper: (() => helper) as unknown as Ctx["helper"],
    memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    count: () => {},
  });
  return { fits, ctx };
}

const said = (id: string, content: string, outcome = 0) =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content }, rewards: { outcome } })]);
const experience = (...trajectories: ReturnType<typeof said>[]) => ({
  trajectories,
  units: trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
});
/** The environment's judge: a is better than all others, with this probability. */
const judge = (p: number): Partial<EnvironmentEvaluator> => ({
  compare: async ({ trajectory }) => (trajectory.id === "a" ? p : 1 - p),
});

test("fits to the comparisons so far, then scores what is new; failed episodes and NaN have no score", async () => {
  const { fits, ctx } = recording(judge(1));
  const piece = comparedReward();
  const failed = trajectoryOf("f", [turnOf([1], [2])], {
    end: { kind: "failed", boundary: "model", message: "gone" },
  });
  const signals = await piece(ctx, experience(failed, said("a", "one"), said("b", "?")), {});
  assert.deepEqual(fits, [["1: one | ?: 1"]]);
  assert.deepEqual(signals, [
    { kind: "score", channel: "reward", about: [{ trajectory: "a" }], value: 3, source: "helper:reward" },
  ]);
  await piece(ctx, experience(said("c", "three"), said("a", "four")), {});
  assert.deepEqual(fits[1], ["1: one | ?: 1", "1: three | four: 0"]);
  const short = comparedReward({ keep: 1, label: "expected" });
  await short(recordingSame(ctx, judge(0.8)), experience(said("a", "five"), said("b", "six")), {});
  assert.deepEqual(fits[2], ["1: five | six: 0.8"]);
});

const recordingSame = (ctx: Ctx, environment: Partial<EnvironmentEvaluator>): Ctx => ({
  ...ctx,
  environment: { ...ctx.environment, ...environment },
});

test("without a judge of pairs, the environment's rewards decide", async () => {
  const { fits, ctx } = recording({
    score: async (attempts) =>
      attempts.map(({ trajectory }) => ({ outcome: trajectory.turns[0]!.rewards.outcome! })),
  });
  await comparedReward()(ctx, experience(said("a", "low", 0.2), said("b", "high", 0.7)), {});
  assert.deepEqual(fits, [["1: low | high: 0"]]);
});

test("unlabelled: all pairs of attempts at one task besides, with y null", async () => {
  const { fits, ctx } = recording(judge(1));
  const other = { ...said("d", "d"), task: "other" };
  await comparedReward({ unlabelled: true })(
    ctx,
    experience(said("a", "a"), said("b", "b"), said("c", "c"), other),
    {},
  );
  assert.deepEqual(fits[0], ["1: a | b: 1", "1: a | b: null", "1: a | c: null", "1: b | c: null"]);
});
