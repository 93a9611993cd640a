import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Ending, Turn } from "../../../core/types.ts";
import { exploring, graded, gradedVerdict, judgementOf } from "./gradedVerdict.ts";
import { armThinker } from "./method.ts";

const judged = (right: boolean, called: boolean, worked: boolean, formed = true) => ({
  formed,
  right,
  called,
  worked,
});
const over = (success: boolean): Ending => ({ kind: "done", reason: "answered", success });
const turn = (more: Partial<Turn>): Turn => turnOf([1], [2], more);

test("the table of rewards, and those of the first stage", () => {
  const cases = [
    judged(false, false, false),
    judged(false, true, true),
    judged(true, false, false),
    judged(true, true, false),
    judged(true, true, true),
    judged(false, true, true, false),
  ];
  assert.deepEqual(
    cases.map((j) => graded(j)),
    [0.3, 0.4, 1, 1, 1.5, 0],
  );
  assert.deepEqual(
    cases.map((j) => exploring(j)),
    [0.3, 0.4, 0.3, 0.4, 0.4, 0],
  );
});

test("the environment says whether a call told something", () => {
  const seen = (turns: readonly Turn[], end: Ending) => judgementOf(trajectoryOf("t", turns, { end }));
  const [a, b] = [turn({ stateKey: "a" }), turn({ stateKey: "b" })];
  assert.deepEqual(seen([a], over(true)), judged(true, false, false));
  assert.deepEqual(seen([a, a], over(true)), judged(true, true, false));
  assert.deepEqual(seen([a, a, b], over(false)), judged(false, true, true));
  assert.deepEqual(seen([turn({}), turn({})], over(true)), judged(true, true, true));
  assert.deepEqual(seen([turn({ rewards: { executable: 0 } }), b], over(true)), judged(true, true, false));
  const cut = seen([a, b], { kind: "truncated", limit: "turns", at: 2 });
  assert.deepEqual(cut, judged(false, true, true, false));
});

test("one reward per judgement; failed ones have none; the first stage ends", async () => {
  const trajectories = [
    trajectoryOf("a", [turn({})], { end: over(true) }),
    trajectoryOf("f", [turn({})], { end: { kind: "failed", boundary: "tool", message: "gone" } }),
  ];
  const signals = await gradedVerdict((j) => graded(j))(ctxWith({}), { trajectories, units: [] }, {});
  assert.deepEqual(
    signals.map((s) => [s.channel, s.about[0]!.trajectory, signalValue(s)]),
    [["outcome", "a", 1]],
  );
  const { phases = [], slots } = armThinker.build({}, { stage: 5, tried: 0.2 });
  assert.deepEqual(
    phases.map(({ from, until }) => [from, until]),
    [[0, 5]],
  );
  const called = [trajectoryOf("c", [turn({}), turn({})], { end: over(true) })];
  const value = async (feedback: typeof slots.feedback) =>
    (await feedback[0]!(ctxWith({}), { trajectories: called, units: [] }, {})).map(signalValue);
  assert.deepEqual(await value(phases[0]!.slots.feedback!), [0.5]);
  assert.deepEqual(await value(slots.feedback), [1.5]);
});
