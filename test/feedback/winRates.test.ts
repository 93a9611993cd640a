import assert from "node:assert/strict";
import { test } from "node:test";
import { signalValue } from "../../src/core/signal.ts";
import type { Trajectory } from "../../src/core/types.ts";
import { winRates } from "../../src/feedback/winRates.ts";
import { ctxWith, evidenceOf } from "../core/make.ts";

/** Of ids such as "0.3": the probability that the first is preferred is 1/2 + distance/8. */
const place = (t: Trajectory): number => Number(t.id.split(".")[1]);
const ctx = ctxWith({
  compare: async ({ trajectory: a }, { trajectory: b }) => 0.5 + (place(b) - place(a)) / 8,
});
const { trajectories, units } = evidenceOf([[0, 0, 0, 0]]);

test("winRates against the group: the mean over the others", async () => {
  // 0.0: (0.625 + 0.75 + 0.875)/3 = 0.75; 0.1: (0.375 + 0.625 + 0.75)/3
  const values = (await winRates()(ctx, { trajectories, units }, {})).map(signalValue);
  const want = [0.75, 1.75 / 3, 1.25 / 3, 0.25];
  values.forEach((v, i) => void assert.ok(Math.abs(v! - want[i]!) < 1e-12));
  assert.deepEqual(await winRates()(ctx, { trajectories, units: units.slice(0, 1) }, {}), []);
});

test("winRates against opponents: who is in no unit, of the same task, and did not fail", async () => {
  const other = evidenceOf([[], [0, 0, 0, 0, 0]]).trajectories; // another task's
  const last = trajectories[3]!;
  const failed: Trajectory = { ...last, id: "0.7", end: { kind: "failed", boundary: "judge", message: "" } };
  const rollout = { trajectories: [...trajectories, failed, ...other], units: units.slice(0, 2) };
  const signals = await winRates({ against: "opponents", less: 0.5 })(ctx, rollout, {});
  // 0.0 against 0.2 and 0.3: (0.75 + 0.875)/2 − 0.5; 0.1: (0.625 + 0.75)/2 − 0.5
  assert.deepEqual(
    signals.map((s) => [s.about[0]!.trajectory, signalValue(s)]),
    [
      ["0.0", 0.3125],
      ["0.1", 0.1875],
    ],
  );
});

test("winRates: a judge that fails counts nowhere", async () => {
  const some = ctxWith({
    compare: async ({ trajectory: a }, { trajectory: b }) =>
      place(b) === 3 ? 0.25 : place(a) === 3 ? 0.75 : undefined,
  });
  const signals = await winRates()(
    some,
    { trajectories: trajectories.slice(0, 2), units: units.slice(0, 2) },
    {},
  );
  assert.deepEqual(signals, []);
  const all = await winRates()(some, { trajectories, units }, {});
  assert.deepEqual(all.map(signalValue), [0.25, 0.25, 0.25, 0.75]);
});
