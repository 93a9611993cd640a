/** Shared tests of estimators: each test file names the properties that hold for its estimator. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Json } from "../../src/core/json.ts";
import type { Advantage } from "../../src/core/slots.ts";
import { evidenceOf } from "../core/make.ts";

export type Law =
  | "shift"
  | "scales"
  | "scaleFree"
  | "sumsToZero"
  | "permutes"
  | "deadIsZero"
  | "loneIsZero"
  | "oneOverTokens";
export type Rewards = readonly (readonly number[])[];

/** The first token's advantage in every trajectory, by group. */
export function apply(estimator: Advantage, rewards: Rewards): number[][] {
  const { advantages } = estimator.apply(evidenceOf(rewards), estimator.init(), undefined);
  return rewards.map((group, g) => group.map((_, i) => advantages.get(`${g}.${i}`)![0]!));
}

export function near(
  got: readonly (readonly number[])[],
  want: readonly (readonly number[])[],
  tolerance = 1e-4,
): void {
  got.forEach((group, g) => {
    group.forEach((x, i) => {
      const w = want[g]![i]!;
      assert.ok(
        Math.abs(x - w) <= tolerance * Math.max(1, Math.abs(w)),
        `[${g}][${i}] got ${x}, expected ${w}`,
      );
    });
  });
}

const laws: Record<Law, (estimator: Advantage, rewards: Rewards) => void> = {
  shift: (e, r) =>
    near(
      apply(
        e,
        r.map((g) => g.map((x) => x + 3)),
      ),
      apply(e, r),
    ),
  scales: (e, r) =>
    near(
      apply(
        e,
        r.map((g) => g.map((x) => x * 4)),
      ),
      apply(e, r).map((g) => g.map((x) => x * 4)),
    ),
  scaleFree: (e, r) =>
    near(
      apply(
        e,
        r.map((g) => g.map((x) => x * 4)),
      ),
      apply(e, r),
    ),
  sumsToZero: (e, r) => {
    for (const group of apply(e, r)) assert.ok(Math.abs(group.reduce((a, b) => a + b, 0)) < 1e-4);
  },
  permutes: (e, r) =>
    near(
      apply(
        e,
        r.map((g) => g.toReversed()),
      ),
      apply(e, r).map((g) => g.toReversed()),
    ),
  deadIsZero: (e) => near(apply(e, [[0.1, 0.1, 0.1]]), [[0, 0, 0]], 0),
  loneIsZero: (e) => near(apply(e, [[0.7]]), [[0]], 0),
  oneOverTokens: (e, r) => {
    // ragged turns: one finite number per action token
    const annotated = evidenceOf(r, (g, i) => 1 + ((g + i) % 3));
    const { advantages } = e.apply(annotated, e.init(), undefined);
    for (const t of annotated.trajectories) {
      assert.equal(advantages.get(t.id)!.length, 2 * t.turns.length);
      assert.ok(advantages.get(t.id)!.every(Number.isFinite));
    }
  },
};

const groups = fc.array(
  fc.array(
    fc.integer({ min: -8, max: 8 }).map((n) => n / 4),
    { minLength: 1, maxLength: 6 },
  ),
  {
    minLength: 1,
    maxLength: 4,
  },
);

/** Tests the named properties, and those of every estimator. @param make creates a new one each time. */
export function obeys(name: string, make: () => Advantage, named: readonly Law[]): void {
  for (const law of named) {
    test(`${name} obeys ${law}`, () => {
      fc.assert(
        fc.property(groups, (rewards) => laws[law](make(), rewards)),
        { seed: 3, numRuns: 40 },
      );
    });
  }

  test(`${name} leaves out who got no feedback, and survives when nobody did`, () => {
    const estimator = make();
    const { advantages, stats } = estimator.apply(
      evidenceOf([[1, undefined, 0]]),
      estimator.init(),
      undefined,
    );
    assert.deepEqual([...advantages.keys()], ["0.0", "0.2"]);
    assert.ok(Object.values(stats).every(Number.isFinite));
    const none = estimator.apply(evidenceOf([[undefined]]), estimator.init(), undefined);
    assert.equal(none.advantages.size, 0);
    assert.ok(Object.values(none.stats).every(Number.isFinite));
  });

  test(`${name} adds to what the estimators before it made`, () => {
    const [first, second] = [make(), make()];
    const annotated = evidenceOf([[1, 0, undefined]]);
    const alone = first.apply(annotated, first.init(), undefined).advantages;
    const other = Float32Array.of(5, 6);
    const soFar = new Map([
      ["0.0", Float32Array.of(2, 3)],
      ["0.2", other],
    ]);
    const { advantages } = second.apply(annotated, second.init(), soFar);
    const own = alone.get("0.0")!;
    assert.deepEqual([...advantages.get("0.0")!], [Math.fround(own[0]! + 2), Math.fround(own[1]! + 3)]);
    assert.deepEqual(advantages.get("0.1"), alone.get("0.1"));
    assert.deepEqual(advantages.get("0.2"), other);
    assert.deepEqual([...soFar.get("0.0")!], [2, 3]);
  });

  test(`${name} keeps its state as plain data`, () => {
    const estimator = make();
    const { next } = estimator.apply(evidenceOf([[1, 0]]), estimator.init(), undefined);
    const back: Json = JSON.parse(JSON.stringify(next));
    assert.deepEqual(back, next);
  });
}
