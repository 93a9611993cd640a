import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { type Attempt, scorer } from "../../../core/evaluator.ts";
import { signalValue } from "../../../core/signal.ts";
import { gate, gated } from "./gate.ts";
import { brief, gatedReward, solved } from "./gatedReward.ts";

const near = (got: number, want: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - want) < within, `${got}, not ${want}`);

test("the gate is 1 where all is met, and a broken constraint leaves the root of the smoothing", () => {
  near(gate([1, 1, 1], 1e-4), 1);
  // two ones and a zero: about δ^(1/3) = 0.046
  near(gate([1, 1, 0], 1e-4), (1.0001 ** 2 * 1e-4) ** (1 / 3) - 1e-4);
  assert.ok(gate([1, 1, 0], 1e-4) < 0.05 && gate([1, 1, 0], 1e-4) > 0.04);
  assert.equal(gate([1, 0], 0), 0);
  assert.equal(gate([], 0.1), 1);
  // the weakest constraint counts most
  const slope = (k: number): number =>
    gate([0.2, 0.9].with(k, [0.2, 0.9][k]! + 1e-6), 1e-4) - gate([0.2, 0.9], 1e-4);
  assert.ok(slope(0) > 4 * slope(1));
});

test("behaviours count by weight, as far as the gate is open", () => {
  near(gated([1], [{ value: 1, weight: 3 }, { value: 0 }], 0), 0.75);
  near(gated([0.25], [{ value: 0.8 }], 0), 0.2);
});

test("one reward per attempt; none where an evaluator or the episode failed", async () => {
  const said = (id: string, success: boolean, tokens: readonly number[]) =>
    trajectoryOf(id, [turnOf([1], tokens)], { end: { kind: "done", reason: "over", success } });
  const counters: Record<string, number> = {};
  const ctx = ctxWith({}, { count: (name, n) => void (counters[name] = (counters[name] ?? 0) + n) });
  const picky = scorer<Attempt>("picky", async ({ trajectory: { id } }) => (id === "c" ? undefined : 1));
  const piece = gatedReward({
    constraints: [solved, picky],
    behaviours: [{ by: brief(2) }],
    smoothing: 0,
  });
  const trajectories = [
    said("a", true, [2, 3]),
    said("b", false, [2, 3]),
    said("c", true, [2]),
    trajectoryOf("f", [turnOf([1], [2])], { end: { kind: "failed", boundary: "model", message: "gone" } }),
  ];
  const signals = await piece(ctx, { trajectories, units: [] }, {});
  assert.deepEqual(
    signals.map((s) => [s.about[0]!.trajectory, signalValue(s)]),
    [
      ["a", 0.5],
      ["b", 0],
    ],
  );
  assert.deepEqual(counters, { "verifier.calls": 6, "judge.calls": 3, "judge.failures": 1 });
});
