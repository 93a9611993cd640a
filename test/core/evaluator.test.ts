/** The contract of evaluators: calls and failures are counted once, and a failure gives no signal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { critiqueText } from "../../src/common/tokens/privilegedContext.ts";
import type { Chat } from "../../src/core/chat.ts";
import type { Ctx, Helper } from "../../src/core/context.ts";
import type { Counter } from "../../src/core/counter.ts";
import { isWhetstoneError, WhetstoneError } from "../../src/core/errors.ts";
import {
  type Able,
  type Attempt,
  comparingScores,
  counted,
  evaluatorIn,
  scorer,
  secondsToAnswer,
} from "../../src/core/evaluator.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Candidate } from "../../src/core/rubrics.ts";
import { inWords } from "../../src/diagnose/pairLabels.ts";
import { defineEnvironment, type Environment } from "../../src/env/environment.ts";
import { chatCritiquer } from "../../src/evaluator/chat.ts";
import { environmentEvaluator } from "../../src/evaluator/environment.ts";
import { chatJudge } from "../../src/evaluator/judge.ts";
import { chatRubricJudge } from "../../src/evaluator/rubricJudge.ts";
import { scriptedCritiquer } from "../../src/evaluator/scripted.ts";
import { comparisons } from "../../src/feedback/comparisons.ts";
import { learntReward } from "../../src/feedback/learntReward.ts";
import { winRates } from "../../src/feedback/winRates.ts";
import { scoredInBothOrders } from "../../src/memory/rubrics/orders.ts";
import { retryWithFeedback } from "../../src/rollout/retryWithFeedback.ts";
import { critiquing, ctxWith, evidenceOf, trajectoryOf, turnOf } from "./make.ts";

const random = randomStream(1);
const attempt: Attempt = {
  task: { id: "task", prompt: [], metadata: {}, seed: 1 },
  trajectory: trajectoryOf("t", [turnOf([1], [2])]),
};
const pair = evidenceOf([[0, 0]]);

function counting(parts: Partial<Ctx> = {}, environment: Partial<Ctx["environment"]> = {}) {
  const counts: Partial<Record<Counter, number>> = {};
  const count = (counter: Counter, amount: number): void => {
    counts[counter] = (counts[counter] ?? 0) + amount;
  };
  return { ctx: ctxWith(environment, { ...parts, count }), counts };
}

const failedOnce = { "judge.calls": 1, "judge.failures": 1 };

const failing = (code: "chat.failed" | "budget.spent"): Chat => {
  const fail = async (): Promise<never> => {
    throw new WhetstoneError(code, {
      where: "provider",
      got: "503",
      expected: "an answer",
      fix: "Try again.",
    });
  };
  return { id: "failing", spent: () => ({ calls: 0, tokens: 0 }) as never, ask: fail, reply: fail };
};

const broken = (): Environment => {
  const fail = async (): Promise<never> => {
    throw new TypeError("cannot read properties of undefined");
  };
  return defineEnvironment({
    name: "broken",
    summary: "an environment whose evaluations fail",
    abilities: new Set(),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 1, actionTokens: 1 },
    tasks: () => [],
    start: fail,
    verify: fail,
    prefer: fail,
    critique: fail,
  });
};

test("an environment that throws: its verifier, its judge and its critiques give no signal and one failure each", async () => {
  const environment = environmentEvaluator(broken());
  const verifier = counting({}, environment);
  assert.equal(
    await evaluatorIn(verifier.ctx, verifier.ctx.environment).score(attempt.trajectory, random),
    undefined,
  );
  assert.deepEqual(verifier.counts, { "verifier.calls": 1, "judge.failures": 1 });

  const judge = counting({}, environment);
  assert.deepEqual(await comparisons()(judge.ctx, pair, {}), []);
  assert.deepEqual(judge.counts, failedOnce);

  const winner = counting({}, environment);
  assert.deepEqual(await winRates()(winner.ctx, pair, {}), []);
  assert.deepEqual(winner.counts, { "judge.calls": 2, "judge.failures": 2 }); // both ways round

  const critiquer = counting({}, environment);
  const rollout = async () => ({ trajectories: [attempt.trajectory], units: evidenceOf([[0]]).units });
  const units = [{ id: "t", group: "g", members: ["t"] }];
  const { trajectories, critiques } = await retryWithFeedback(async () => ({ ...(await rollout()), units }), {
    critiquer: scriptedCritiquer(),
  })(critiquer.ctx);
  assert.deepEqual([trajectories.length, critiques?.size], [1, 0]);
  assert.deepEqual(critiquer.counts, failedOnce);
});

test("a provider that fails: judge, critiquer and rubric judge give no signal and one failure for each call", async () => {
  const chat = failing("chat.failed");
  const judge = counting();
  const compared = await comparisons({ evaluator: comparingScores(chatJudge(chat, "polite")) })(
    judge.ctx,
    pair,
    {},
  );
  assert.deepEqual([compared, judge.counts], [[], failedOnce]);

  const critiquer = counting();
  const said = await critiqueText(chatCritiquer(chat))(critiquer.ctx, attempt.trajectory, pair);
  assert.deepEqual([said, critiquer.counts], [undefined, failedOnce]);

  const rubrics = counting();
  const candidates: readonly Candidate[] = [{ asked: "hello", reply: "hi" }];
  const scores = await scoredInBothOrders(
    counted(chatRubricJudge(chat)({ rubrics: [] }), rubrics.ctx),
    candidates,
  );
  assert.deepEqual([scores, rubrics.counts], [undefined, { "judge.calls": 2, "judge.failures": 2 }]);
});

test("a reward model without a number, words without an answer, too few scores: one failure each", async () => {
  const helper: Helper<unknown, number | null, number> = {
    fit: async () => ({}),
    predict: async (xs) => xs.map(() => Number.NaN),
  };
  // the test's own helper has the types that the piece asks for
  const model = counting({ helper: (() => helper) as unknown as Ctx["helper"] });
  const one = { trajectories: [attempt.trajectory], units: [] };
  assert.deepEqual(await learntReward({ features: () => ({ a: 1 }), keep: 0 })(model.ctx, one, {}), []);
  assert.deepEqual(model.counts, failedOnce);

  const words = counting();
  const evaluator = inWords("undecided", async () => "the first or the second");
  assert.deepEqual(await comparisons({ evaluator })(words.ctx, pair, {}), []);
  assert.deepEqual(words.counts, failedOnce);

  const few = counting();
  const short: Able<"score"> = { name: "short", score: async () => [] };
  assert.equal(await counted(short, few.ctx).score([attempt], { random }), undefined);
  assert.deepEqual(few.counts, failedOnce);
});

test("an evaluator that an evaluator asks is counted once; success is no failure", async () => {
  const { ctx, counts } = counting({}, { critique: async () => ({ text: "hint" }) });
  const critique = await evaluatorIn(ctx, scriptedCritiquer()).critique(attempt.trajectory, random);
  assert.deepEqual([critique, counts], [{ text: "hint" }, { "judge.calls": 1 }]);
});

test("a spent budget, a missing option and the end of the run are thrown, not counted as failures", async () => {
  const { ctx, counts } = counting();
  await assert.rejects(
    evaluatorIn(ctx, chatJudge(failing("budget.spent"), "polite")).score(attempt.trajectory, random),
    (e) => isWhetstoneError(e) && e.code === "budget.spent",
  );
  const wrong = critiquing(() => {
    throw new WhetstoneError("option.range", { where: "a", got: "b", expected: "c", fix: "d." });
  });
  await assert.rejects(
    evaluatorIn(ctx, wrong).critique(attempt.trajectory, random),
    (e) => isWhetstoneError(e) && e.code === "option.range",
  );
  const stop = AbortSignal.abort(new Error("Ctrl-C"));
  const stopped = critiquing(() => {
    throw stop.reason;
  });
  await assert.rejects(counted(stopped, { count: ctx.count, stop }).critique(attempt, { random }), /Ctrl-C/);
  assert.deepEqual(counts, { "judge.calls": 3 });
});

test("a judge that never answers is waited for up to a deadline, and is one failure; so are a dead network and its own deadline", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const hanging = counting();
  const silent: Able<"score"> = { name: "silent", score: () => new Promise(() => undefined) };
  const asked = counted(silent, hanging.ctx).score([attempt], { random });
  await Promise.resolve();
  t.mock.timers.tick(secondsToAnswer * 1000 - 1);
  assert.deepEqual(hanging.counts, { "judge.calls": 1 });
  t.mock.timers.tick(1);
  assert.equal(await asked, undefined);
  assert.deepEqual(hanging.counts, failedOnce);

  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  for (const error of [
    new TypeError("fetch failed", { cause: refused }),
    new DOMException("The operation timed out.", "TimeoutError"),
  ]) {
    const { ctx, counts } = counting();
    const far: Able<"score"> = { name: "far", score: () => Promise.reject(error) };
    assert.equal(await counted(far, ctx).score([attempt], { random }), undefined);
    assert.deepEqual(counts, failedOnce);
  }
});

test("many calls at once of a judge that answers few of them: the others are failures, and none is a 0", async () => {
  const { ctx, counts } = counting();
  const flooded = scorer("flooded", async (_item: Attempt, { random: own }) => {
    if (own.next() < 0.9) throw Object.assign(new Error("socket"), { code: "ECONNRESET" });
    return 1;
  });
  const { score } = counted(flooded, ctx);
  const streams = Array.from({ length: 2000 }, (_, i) => randomStream(i));
  const scores = await Promise.all(streams.map((own) => score([attempt], { random: own })));
  const answered = scores.filter((one) => one !== undefined);
  assert.ok(answered.length > 100 && answered.length < 300, `${answered.length}`);
  assert.ok(answered.every((one) => one[0]?.score === 1));
  assert.deepEqual(counts, { "judge.calls": 2000, "judge.failures": 2000 - answered.length });
});

test("an attempt without actions is not criticised, and a missing ability is an error that names it", async () => {
  const { ctx, counts } = counting();
  const { critique, compare } = evaluatorIn(
    ctx,
    critiquing(() => ({ text: "never" })),
  );
  assert.equal(await critique(trajectoryOf("idle", []), random), undefined);
  await assert.rejects(
    compare(attempt.trajectory, attempt.trajectory, random),
    (e) => isWhetstoneError(e) && e.code === "capability.missing" && /compares/.test(e.message),
  );
  assert.deepEqual(counts, {});
});

test("comparingScores: the higher total wins, equal totals tie, NaN and a failure are no comparison", async () => {
  const of = (...values: readonly (number | undefined)[]) => {
    let k = 0;
    return comparingScores(scorer<Attempt>("scores", async () => values[k++])).compare(attempt, attempt, {
      random,
    });
  };
  assert.deepEqual(
    [await of(2, 1), await of(1, 2), await of(1, 1), await of(1, Number.NaN), await of(1, undefined)],
    [1, 0, 0.5, undefined, undefined],
  );
});

test("the environment as an evaluator passes on rewards, preference and the requested critique", async () => {
  const environment = environmentEvaluator({
    ...broken(),
    verify: async () => ({ outcome: 1, format: 0.5 }),
    prefer: async (_task, first) => (first.id === "t" ? 0.7 : 0.3),
    critique: async (_task, _t, { right, detail }) => ({ text: `${right} ${detail}` }),
  });
  assert.deepEqual(await environment.score!([attempt, attempt], { random }), [
    { outcome: 1, format: 0.5 },
    { outcome: 1, format: 0.5 },
  ]);
  assert.equal(await environment.compare!(attempt, attempt, { random }), 0.7);
  assert.deepEqual(await environment.critique!(attempt, { random }), { text: "true hint" });
  assert.deepEqual(await environment.critique!(attempt, { random, right: false, detail: "answer" }), {
    text: "false answer",
  });
  const { verify: _, prefer: __, critique: ___, ...plain } = broken();
  const able = environmentEvaluator(plain);
  assert.deepEqual(
    [await able.score!([attempt], { random }), able.compare, able.critique],
    [[{}], undefined, undefined],
  );
});
