import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { whitened } from "../../src/advantage/whitened.ts";
import type { Advantages } from "../../src/core/slots.ts";
import { evidenceOf, trajectoryOf } from "../core/make.ts";

const apply = (estimator: ReturnType<typeof whitened>, soFar: Advantages | undefined) =>
  estimator.apply(evidenceOf([]), null, soFar);
const numbers = (advantages: Advantages): number[] => [...advantages.values()].flatMap((a) => [...a]);

test("whitened is worked by hand over the tokens of the whole batch", () => {
  // 1, 1, 1, 5: mean 2, deviation √3
  const soFar = new Map([
    ["a", Float32Array.of(1, 1, 1)],
    ["b", Float32Array.of(5)],
  ]);
  const root = Math.sqrt(3);
  const { advantages, stats } = apply(whitened(), soFar);
  assert.deepEqual(
    numbers(advantages),
    [-1, -1, -1, 3].map((x) => Math.fround(x / root)),
  );
  assert.deepEqual(stats, { "advantage.mean": 2, "advantage.deviation": root });
  const scaled = apply(whitened({ centre: false }), soFar).advantages;
  assert.deepEqual(
    numbers(scaled),
    [1, 1, 1, 5].map((x) => Math.fround(x / root)),
  );
  assert.deepEqual([...soFar.get("b")!], [5]);
});

test("whitened: mean 0 and deviation 1, whatever the scale and the shift", () => {
  const batch = fc.array(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(batch, (rows) => {
      const of = (change: (x: number) => number): number[] =>
        numbers(
          apply(whitened(), new Map(rows.map((row, i) => [`${i}`, Float32Array.from(row, change)])))
            .advantages,
        );
      const out = of((x) => x);
      const mean = out.reduce((a, b) => a + b, 0) / out.length;
      const square = out.reduce((a, b) => a + b * b, 0) / out.length;
      assert.ok(Math.abs(mean) < 1e-5);
      const flat = rows.flat();
      assert.ok(Math.abs(square - (flat.every((x) => x === flat[0]) ? 0 : 1)) < 1e-4);
      of((x) => 4 * x + 8).forEach((x, i) => {
        assert.ok(Math.abs(x - out[i]!) < 1e-4);
      });
    }),
    { seed: 6, numRuns: 60 },
  );
});

test("whitened: equal advantages teach nothing, tiny ones are not blown up, and nothing stays nothing", () => {
  const equal = new Map([["a", Float32Array.of(0.3, 0.3)]]);
  assert.deepEqual(numbers(apply(whitened(), equal).advantages), [0, 0]);
  const tiny = new Map([["a", Float32Array.of(1e-6, -1e-6)]]);
  assert.ok(numbers(apply(whitened(), tiny).advantages).every((x) => Math.abs(x) < 0.011));
  assert.deepEqual(apply(whitened(), undefined), { advantages: new Map(), next: null, stats: {} });
});

test("whitened by role: each role has a mean and a deviation of its own", () => {
  // attackers 1, 3: mean 2, deviation 1; defenders −10, −10, −4: mean −8, deviation √8
  const trajectories = (["attacker", "attacker", "defender", "defender"] as const).map((role, i) =>
    trajectoryOf(`${i}`, [], { role }),
  );
  const soFar = new Map([
    ["0", Float32Array.of(1)],
    ["1", Float32Array.of(3)],
    ["2", Float32Array.of(-10, -10)],
    ["3", Float32Array.of(-4)],
  ]);
  const evidence = { ...evidenceOf([]), trajectories };
  const { advantages } = whitened({ per: "role" }).apply(evidence, null, soFar);
  const root = Math.sqrt(8);
  assert.deepEqual(
    numbers(advantages),
    [-1, 1, -2 / root, -2 / root, 4 / root].map((x) => Math.fround(x)),
  );
  // together, whoever is an attacker seems to have done well
  const together = whitened().apply(evidence, null, soFar).advantages;
  assert.ok(together.get("0")![0]! > 0);
});
