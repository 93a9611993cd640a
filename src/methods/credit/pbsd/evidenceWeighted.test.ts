import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience, Credited } from "../../../core/slots.ts";
import { evidenceWeighted } from "./evidenceWeighted.ts";

/** A success and a failure of two turns of two tokens, with evidence 1, −1 and 1, −1. */
function made(values: readonly (number | undefined)[] = [1, -1, 1, -1]): AnnotatedExperience {
  const base = evidenceOf([[1, 0]], () => 2);
  const speaks = values.flatMap((value, i): Credited[] =>
    value === undefined ? [] : [{ at: { trajectory: `0.${i >> 1}`, turn: i % 2 }, value }],
  );
  return { ...base, channels: { ...base.channels, speaks } };
}

const soFar = new Map([
  ["0.0", Float32Array.of(1, 1, 1, 1)],
  ["0.1", Float32Array.of(-1, -1, -1, -1)],
]);

/** One number per turn. */
function apply(annotated: AnnotatedExperience, limit?: number): number[][] {
  const estimator = evidenceWeighted({ channel: "speaks", ...(limit === undefined ? {} : { limit }) });
  const { advantages } = estimator.apply(annotated, null, soFar);
  return ["0.0", "0.1"].map((id) => [...advantages.get(id)!].filter((_, a) => a % 2 === 0));
}

const near = (got: readonly (readonly number[])[], want: readonly (readonly number[])[]): void =>
  got.forEach((row, i) => {
    row.forEach((x, k) => {
      assert.ok(Math.abs(x - want[i]![k]!) < 1e-5, `[${i}][${k}] ${x}, expected ${want[i]![k]}`);
    });
  });

test("evidenceWeighted: supporting turns gain more of a success and lose less of a failure", () => {
  // z = ±1; weights e and 1/e, held at 2 and 1/2, mean 1.25: 1.6 and 0.4; the other way round where A < 0
  near(apply(made()), [
    [1.6, 0.4],
    [-0.4, -1.6],
  ]);
  // unheld: e and 1/e over their mean
  const mean = (Math.E + 1 / Math.E) / 2;
  near(apply(made(), 10), [
    [Math.E / mean, 1 / Math.E / mean],
    [-1 / Math.E / mean, -Math.E / mean],
  ]);
});

test("evidenceWeighted: equal evidence and none change nothing; a turn without evidence has weight 1", () => {
  near(apply(made([3, 3, 3, 3])), [
    [1, 1],
    [-1, -1],
  ]);
  near(apply(made([])), [
    [1, 1],
    [-1, -1],
  ]);
  // z = 1 and −1 on the first turns: weights 2 and 1 in the success; e^(−1 · −1) held at 2 and 1 in the failure
  near(apply(made([1, undefined, -1, undefined])), [
    [2 / 1.5, 1 / 1.5],
    [-2 / 1.5, -1 / 1.5],
  ]);
});

test("evidenceWeighted keeps what a trajectory gets in all, and makes no advantages of its own", () => {
  for (const [i, turns] of apply(made([0.3, -2, 5, 0.1])).entries()) {
    assert.ok(Math.abs(turns[0]! + turns[1]! - (i === 0 ? 2 : -2)) < 1e-5);
  }
  const alone = evidenceWeighted({ channel: "speaks" }).apply(made(), null, undefined);
  assert.equal(alone.advantages.size, 0);
});
