import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { curveReward, qualityCurve } from "./qualityCurve.ts";

const near = (got: number, want: number): void => assert.ok(Math.abs(got - want) < 1e-12, `${got} ${want}`);

test("curveReward is worked by hand", () => {
  // peak 0.8 after turn 2 of 3, end 0.6, T_max 10: Ret = 1 − 0.2/0.8 = 0.75; E = 1 − 1/10 − 0.25 · 2/10 = 0.85
  near(curveReward([0.5, 0.4, 0.8, 0.6], 10), 0.8 * (1 + 0.3 * 0.75 + 0.2 * 0.85));
  // stopped at once: everything kept, nothing spent
  near(curveReward([0.5], 10), 0.5 * 1.5);
  // a peak below the least one earns nothing for being quick
  near(curveReward([0.5], 10, { least: 0.6 }), 0.5 * 1.3);
  near(curveReward([0, 0], 10), 0);
  near(curveReward([], 10), 0);
});

test("curveReward: idle turns after the peak are never paid, even where they keep it", () => {
  const curve = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(curve, (tenths) => {
      const qualities = tenths.map((q) => q / 10);
      const held = [...qualities, qualities.at(-1)!];
      assert.ok(curveReward(held, 12) < curveReward(qualities, 12));
    }),
    { seed: 4, numRuns: 100 },
  );
});

test("curveReward lies between the peak and one and a half of it", () => {
  const curve = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 13 });
  fc.assert(
    fc.property(curve, (qualities) => {
      const peak = Math.max(...qualities);
      const worth = curveReward(qualities, 12);
      assert.ok(worth >= peak - 1e-12 && worth <= 1.5 * peak + 1e-12);
    }),
    { seed: 5, numRuns: 100 },
  );
});

const ctx = ctxOf({
  task: (id) => ({ id, prompt: [], seed: 1, metadata: id === "task" ? { quality: 0.5 } : {} }),
});

test("qualityCurve reads scores, leaves stops out, and pays nothing for what is no action", async () => {
  const scored = (quality: number) => turnOf([1], [2], { rewards: { quality } });
  const stop = turnOf([1], [3], { rewards: { outcome: 0.7 } });
  const odd = turnOf([1], [4], { rewards: { invalid: 1 } });
  const failed = { kind: "failed", boundary: "environment", message: "down" } as const;
  const trajectories = [
    trajectoryOf("climbs", [scored(0.7), stop]),
    trajectoryOf("broken", [scored(0.7), odd]),
    trajectoryOf("unscored", [stop], { task: "other" }),
    trajectoryOf("failed", [scored(0.7)], { end: failed }),
  ];
  const signals = await qualityCurve({ most: 10 })(ctx, { trajectories, units: [] }, {});
  assert.deepEqual(
    signals.map((s) => s.about[0]!.trajectory),
    ["climbs", "broken"],
  );
  // 0.5 → 0.7 in one turn: Ret = 1, E = 1 − 0.25/10
  assert.ok(signals[0]!.kind === "reward" && signals[1]!.kind === "reward");
  near(signals[0]!.value, 0.7 * (1 + 0.3 + 0.2 * 0.975));
  assert.equal(signals[1]!.value, 0);
});
