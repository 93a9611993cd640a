import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { Signal } from "../../../core/signal.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { type InjectedLabelOptions, injectedLabel } from "./injectedLabel.ts";

/** One attempt's accuracy and form. */
type Paid = readonly [outcome: number, format: number];

/** The last of each group is the label. */
function evidence(groups: readonly (readonly Paid[])[]): AnnotatedExperience {
  const made = evidenceOf(groups.map((group) => group.map(() => 0)));
  const labels = new Set(groups.map((group, g) => `${g}.${group.length - 1}`));
  const signals = groups.flatMap((group, g) =>
    group.flatMap(([outcome, format], i): Signal[] =>
      Object.entries({ outcome, format }).map(([channel, value]) => ({
        kind: "reward",
        channel,
        value,
        about: [{ trajectory: `${g}.${i}`, turn: 0 }],
        source: "environment",
      })),
    ),
  );
  const trajectories = made.trajectories.map((t) =>
    labels.has(t.id) ? { ...t, origin: "demonstrated" as const } : t,
  );
  return { ...made, trajectories, signals };
}

function returns(groups: readonly (readonly Paid[])[], options: InjectedLabelOptions = {}): number[][] {
  const { outcome = [] } = injectedLabel(options)(evidence(groups));
  const values = new Map(outcome.map(({ at, value }) => [at.trajectory, value]));
  return groups.map((group, g) => group.map((_, i) => values.get(`${g}.${i}`)!));
}

const thinks: Paid = [0, 0.3];
const solves: Paid = [1, 0.3];
const label: Paid = [1, 0.3];

test("the label is paid for its answer, not for a form; attempts are paid for both", () => {
  assert.deepEqual(returns([[thinks, [0, 0], label]]), [[0.3, 0, 1]]);
  assert.deepEqual(returns([[thinks, [0, 0], label]], { withheld: [] }), [[0.3, 0, 1.3]]);
});

test("once an attempt does as well, the label is worth the attempts' mean and its advantage is 0", () => {
  const [own] = returns([[solves, thinks, label]]);
  assert.ok(Math.abs(own![2]! - 0.8) < 1e-12);
  assert.deepEqual(returns([[solves, thinks, label]], { fades: false }), [[1.3, 0.3, 1]]);
  const made = evidence([[solves, thinks, label]]);
  const { advantages } = groupNormalised().apply(
    { ...made, channels: injectedLabel()(made) },
    null,
    undefined,
  );
  // mean of three 0.8, deviation √(2 · 0.25 / 3)
  const deviation = Math.sqrt(0.5 / 3);
  [0.5 / deviation, -0.5 / deviation, 0].forEach((want, i) => {
    assert.ok(Math.abs(advantages.get(`0.${i}`)![0]! - want) < 1e-6);
  });
});

test("where all attempts fail alike the label gets √G", () => {
  const made = evidence([[[0, 0], [0, 0], [0, 0], [0, 0], label]]);
  const { advantages } = groupNormalised().apply(
    { ...made, channels: injectedLabel()(made) },
    null,
    undefined,
  );
  assert.ok(Math.abs(advantages.get("0.4")![0]! - 2) < 1e-6);
  assert.ok(Math.abs(advantages.get("0.0")![0]! + 1 / 2) < 1e-6);
});

test("groups do not disturb each other; who got no signal gets no credit", () => {
  assert.deepEqual(
    returns([
      [solves, label],
      [thinks, label],
    ]),
    [
      [1.3, 1.3],
      [0.3, 1],
    ],
  );
  const silent = { ...evidence([[thinks, label]]), signals: [] };
  assert.deepEqual(injectedLabel()(silent), { outcome: [] });
});
