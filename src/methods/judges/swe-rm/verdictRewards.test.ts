import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { scorer } from "../../../core/evaluator.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Ending, Trajectory } from "../../../core/types.ts";
import { hybridReward, verdictRewards } from "./verdictRewards.ts";

const passed: Ending = { kind: "done", reason: "over", success: true };
const refused: Ending = { kind: "done", reason: "over", success: false };
const cut: Ending = { kind: "truncated", limit: "turns", at: 3 };
const broken: Ending = { kind: "failed", boundary: "environment", message: "gone" };
const attempt = (id: string, end: Ending): Trajectory => trajectoryOf(id, [turnOf([1], [2])], { end });

test("hybridReward: 1 + s, s, s − ½ by the ending", () => {
  assert.equal(hybridReward({ end: passed }, 0.25), 1.25);
  assert.equal(hybridReward({ end: refused }, 0.25), 0.25);
  assert.equal(hybridReward({ end: { kind: "done", reason: "over" } }, 0.25), 0.25);
  assert.equal(hybridReward({ end: cut }, 0.25), -0.25);
  // the best refused attempt against the worst accepted one
  assert.ok(hybridReward({ end: refused }, 1) <= hybridReward({ end: passed }, 0));
});

test("verdictRewards: one reward per attempt; none where the verifier or the episode failed", async () => {
  const scores: Readonly<Record<string, number>> = { a: 0.75, b: 0.5, c: 0.25 };
  const verifier = scorer("v", async ({ trajectory }: { trajectory: Trajectory }) => scores[trajectory.id]);
  const counted: Record<string, number> = {};
  const ctx = ctxWith({}, { count: (name, n) => void (counted[name] = (counted[name] ?? 0) + n) });
  const trajectories = [
    attempt("a", passed),
    attempt("b", refused),
    attempt("c", cut),
    attempt("unknown", passed),
    attempt("d", broken),
  ];
  const values = async (reward: "hybrid" | "score") =>
    (await verdictRewards({ verifier, reward })(ctx, { trajectories, units: [] }, {})).map((s) => [
      s.channel,
      s.about[0]!.trajectory,
      signalValue(s),
    ]);
  assert.deepEqual(await values("hybrid"), [
    ["outcome", "a", 1.75],
    ["outcome", "b", 0.5],
    ["outcome", "c", -0.25],
  ]);
  assert.deepEqual(counted, { "judge.calls": 4, "judge.failures": 1 });
  assert.deepEqual(
    (await values("score")).map(([, , value]) => value),
    [0.75, 0.5, 0.25],
  );
});
