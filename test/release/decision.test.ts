import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { thompsonSplit } from "../../src/release/bandit.ts";
import { type DecisionOptions, sequentialDecision, type UnitOutcome } from "../../src/release/decision.ts";
import { metrics, readGuardrail, sayBound } from "../../src/release/guardrails.ts";
import { served, signal } from "../store/served.ts";

type Draw = (arm: UnitOutcome["arm"], random: ReturnType<typeof randomStream>) => Omit<UnitOutcome, "arm">;

function judged(options: DecisionOptions, units: number, draw: Draw) {
  const evidence = sequentialDecision(options);
  const random = randomStream(6);
  for (let i = 0; i < units; i++) {
    const arm = i % 2 === 0 ? "candidate" : "baseline";
    evidence.see({ arm, ...draw(arm, random) });
  }
  return evidence.judgement();
}
const coin = (p: number, random: ReturnType<typeof randomStream>): number => (random.next() < p ? 1 : 0);

test("better is promoted, worse is rolled back, alike is held", () => {
  const rewards = (candidate: number, options: DecisionOptions = {}) =>
    judged(options, 800, (arm, random) => ({
      reward: coin(arm === "candidate" ? candidate : 0.5, random),
      measures: {},
    }));
  assert.equal(rewards(0.7).decision, "promote");
  assert.equal(rewards(0.3).decision, "roll back");
  assert.equal(rewards(0.5).decision, "hold");
  // a better one that is not better by enough, and one that is no worse than it may be
  assert.equal(rewards(0.7, { minimumEffect: 0.2 }).decision, "hold");
  assert.equal(rewards(0.5, { minimumEffect: -0.2 }).decision, "promote");
  assert.match(rewards(0.5, { minimumEffect: -0.2 }).why, /than the baseline's − 0.2/);
});

test("rewards on another scale, or without bounds, are judged alike", () => {
  const on = (options: DecisionOptions, scale: (x: number) => number) =>
    judged(options, 800, (arm, random) => ({
      reward: scale(coin(arm === "candidate" ? 0.7 : 0.5, random)),
      measures: {},
    }));
  const stars = on({ range: [1, 5] }, (x) => 1 + 4 * x);
  const plain = on({}, (x) => x);
  assert.equal(stars.decision, "promote");
  assert.ok(Math.abs(stars.difference.low - 4 * plain.difference.low) < 1e-9);
  assert.ok(Math.abs(stars.candidate.mean - (1 + 4 * plain.candidate.mean)) < 1e-9);
  assert.equal(on({ range: undefined }, (x) => 100 * x).decision, "promote");
});

test("a broken guardrail counts more than a better reward", () => {
  const guardrails = [
    readGuardrail("errors=+0.05"),
    readGuardrail("latency=x1.5"),
    readGuardrail("feedback=x0.5"),
  ];
  const with_ = (errors: number, ms: number) =>
    judged({ guardrails }, 1200, (arm, random) => {
      const candidate = arm === "candidate";
      return {
        reward: coin(candidate ? 0.8 : 0.5, random),
        measures: {
          errors: coin(candidate ? errors : 0.01, random),
          latency: (candidate ? ms : 100) * (0.5 + random.next()),
          feedback: 1,
        },
      };
    });
  const good = with_(0.01, 100);
  assert.equal(good.decision, "promote");
  assert.deepEqual(
    good.guardrails.map((g) => g.state),
    ["kept", "kept", "kept"],
  );
  const slow = with_(0.01, 300);
  assert.equal(slow.decision, "roll back");
  assert.equal(slow.why, "guardrail latency broken");
  assert.equal(with_(0.3, 300).why, "guardrail errors, latency broken");
});

test("different people answering is said", () => {
  const said = judged({}, 1000, (arm, random) => ({
    measures: {},
    ...(random.next() < (arm === "candidate" ? 0.6 : 0.2) ? { reward: 1 } : {}),
  }));
  assert.match(
    said.doubts.join(),
    /^feedback comes from 59 % of the candidate's units and from 22 % of the baseline's/,
  );
});

test("guardrails are read as they are said", () => {
  for (const [text, kind, value] of [
    ["errors=0.02", "absolute", 0.02],
    ["errors=+0.02", "difference", 0.02],
    ["feedback=-0.1", "difference", -0.1],
    ["latency=x1.5", "factor", 1.5],
  ] as const) {
    const read = readGuardrail(text);
    assert.deepEqual(read.bound, { kind, value });
    assert.equal(`${read.name}=${sayBound(read.bound)}`, text);
  }
  assert.throws(() => readGuardrail("latncy=x2"), /Did you mean latency\?/);
  assert.throws(() => readGuardrail("latency"), { code: "option.range" });
  assert.throws(() => readGuardrail("constructor=1"), { code: "name.unknown" });
});

test("metrics measure what they say", () => {
  const of = (name: string, response = served("s", 0)): number | undefined => {
    const { measure } = metrics[name]!;
    assert.equal(measure.of, "response");
    return measure.of === "response" ? measure.value(response) : undefined;
  };
  const saying = (content: string) =>
    served("s", 0, { choices: [{ message: { role: "assistant", content }, stop: "eos" }] });
  assert.equal(of("errors"), 0);
  assert.equal(of("errors", served("s", 0, { status: "failed", choices: [] })), 1);
  assert.equal(of("latency"), 12.5);
  assert.equal(of("slow", served("s", 0, { ms: 10_001 })), 1);
  assert.equal(of("length"), "answer 0 of s".length);
  assert.equal(of("cost"), 12);
  assert.equal(of("refusals", saying("I'm sorry, but I can't help with that.")), 1);
  assert.equal(of("refusals", saying("I cannot say enough good about it")), 1); // beginnings alone are looked at
  assert.equal(of("refusals", saying("Sorry for the delay! Here it is.")), 0);
  assert.equal(of("refusals", served("s", 0, { choices: [] })), undefined);
  const signals = (name: string, given: readonly ReturnType<typeof signal>[]): number | undefined => {
    const { measure } = metrics[name]!;
    return measure.of === "signals" ? measure.value(given) : undefined;
  };
  assert.equal(signals("flags", [signal("a"), signal("b", { channel: "safety.toxic", value: 1 })]), 1);
  assert.equal(signals("flags", [signal("a", { channel: "flag", value: 0 })]), 0);
  assert.deepEqual([signals("feedback", []), signals("feedback", [signal("a")])], [0, 1]);
});

test("Thompson's shares: certain winners get all but the floors, unknown ones alike", () => {
  const many = (version: string, mean: number, n: number) => ({
    version,
    rewards: Array.from({ length: n }, (_, i) => ((i + 0.5) / n < mean ? 1 : 0)),
  });
  const options = { floor: 0.1, random: randomStream(2) };
  assert.deepEqual(thompsonSplit([many("a", 0.9, 500), many("b", 0.1, 500)], options), { a: 0.9, b: 0.1 });
  const unknown = thompsonSplit([many("a", 0, 0), many("b", 0, 0)], options);
  assert.ok(Math.abs(unknown.a! - 0.5) < 0.03);
  assert.ok(Math.abs(unknown.a! + unknown.b! - 1) < 1e-12);
  // Beta(3, 1) against Beta(1, 3): P(first is larger) = 1 − ∫ 3 x² (1 − x)³ dx = 0.95, so a share of 0.1 + 0.8 · 0.95
  const two = thompsonSplit([many("a", 1, 2), many("b", 0, 2)], { ...options, draws: 20_000 });
  assert.ok(Math.abs(two.a! - 0.86) < 0.01, `${two.a}`);
  const unbounded = [
    { version: "a", rewards: [10, 12, 11, 13] },
    { version: "b", rewards: [5, 6, 4, 5] },
  ];
  assert.ok(thompsonSplit(unbounded, { ...options, range: undefined }).a! > 0.89);
  assert.throws(() => thompsonSplit([many("a", 0, 0), many("b", 0, 0)], { ...options, floor: 0.6 }), {
    code: "option.range",
  });
  // drawing from a posterior that there is not would never end
  assert.throws(() => thompsonSplit([{ version: "a", rewards: [5, 5, 5] }], options), {
    code: "option.range",
  });
});
