import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Signal } from "../../../core/signal.ts";
import { type ToFirstAttemptOptions, toFirstAttempt } from "./toFirstAttempt.ts";

const turn = turnOf([1], [2]);
const retry = (id: string, parent: string, why: "retry" | "rewrite") =>
  trajectoryOf(id, [turn], { lineage: { parent, turn: 0, why } });
const trajectories = [
  trajectoryOf("a", [turn]),
  trajectoryOf("b", [turn]),
  retry("a'", "a", "retry"),
  retry("a' plain", "a", "rewrite"),
];
const paid = (trajectory: string, value: number): Signal => ({
  kind: "reward",
  channel: "outcome",
  source: "environment",
  about: [{ trajectory }],
  value,
});

const credit = (signals: readonly Signal[], options: ToFirstAttemptOptions = {}) =>
  toFirstAttempt(options)({ trajectories, units: [], notes: {}, signals });

test("toFirstAttempt: what the retry was paid, to the attempt that it retries, once", () => {
  const signals = ["a", "b", "a'", "a' plain"].map((id) => paid(id, 1));
  assert.deepEqual(credit(signals), { retry: [{ at: { trajectory: "a" }, value: 1 }] });
  assert.deepEqual(credit(signals, { discount: 0.5, channel: "later" }), {
    later: [{ at: { trajectory: "a" }, value: 0.5 }],
  });
});

test("toFirstAttempt: what carries no number is no credit", () => {
  const preference: Signal = {
    kind: "preference",
    channel: "judge",
    source: "judge",
    about: [{ trajectory: "a'" }, { trajectory: "b" }],
    best: 0,
    value: 1,
  };
  const critique: Signal = {
    kind: "critique",
    channel: "critique",
    source: "critiquer",
    about: [{ trajectory: "a'" }],
    text: "so so",
  };
  assert.deepEqual(credit([preference, critique]), { retry: [] });
});
