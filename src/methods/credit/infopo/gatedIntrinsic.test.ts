import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import type { Advantages, AnnotatedExperience } from "../../../core/slots.ts";
import { type GatedIntrinsicOptions, gatedIntrinsic } from "./gatedIntrinsic.ts";

/** Groups of two attempts of two turns of two tokens; gains are about first turns. */
function evidence(outcomes: readonly (readonly number[])[], gains: readonly number[]): AnnotatedExperience {
  const made = evidenceOf(outcomes, () => 2);
  const gain = made.trajectories.map((t, i) => ({ at: { trajectory: t.id, turn: 0 }, value: gains[i]! }));
  return { ...made, channels: { ...made.channels, gain } };
}

function apply(
  of: AnnotatedExperience,
  options: Partial<GatedIntrinsicOptions> = {},
  soFar?: Advantages,
): number[][] {
  const { advantages } = gatedIntrinsic({ channel: "gain", weight: 1, ...options }).apply(of, null, soFar);
  return of.trajectories.map((t) => [...advantages.get(t.id)!]);
}

const near = (got: readonly (readonly number[])[], want: readonly (readonly number[])[]): void =>
  got.forEach((row, i) => {
    row.forEach((x, a) => {
      assert.ok(Math.abs(x - want[i]![a]!) < 1e-5, `[${i}][${a}] ${x}, expected ${want[i]![a]}`);
    });
  });

test("gatedIntrinsic is worked by hand where outcomes tie", () => {
  // per token 3 and 1: mean 2 and deviation 1; equal outcomes leave the gate at 1/2
  near(apply(evidence([[1, 1]], [6, 2])), [
    [0.5, 0.5, 0, 0],
    [-0.5, -0.5, 0, 0],
  ]);
  // without a centre: 3 and 1 over √((9 + 1)/2)
  const root = Math.sqrt(5);
  near(apply(evidence([[1, 1]], [6, 2]), { centre: "none" }), [
    [1.5 / root, 1.5 / root, 0, 0],
    [0.5 / root, 0.5 / root, 0, 0],
  ]);
});

test("gatedIntrinsic: a gain of 0 stays 0 and does not move the mean", () => {
  near(apply(evidence([[1, 1, 1]], [6, 2, 0])), [
    [0.5, 0.5, 0, 0],
    [-0.5, -0.5, 0, 0],
    [0, 0, 0, 0],
  ]);
});

test("gatedIntrinsic: the gate closes where outcomes differ, group by group", () => {
  // deviation 0.5 over 0.05: σ(−10)
  const closed = 1 / (1 + Math.exp(10));
  near(
    apply(
      evidence(
        [
          [1, 0],
          [0, 0],
        ],
        [6, 2, 6, 2],
      ),
    ),
    [
      [closed, closed, 0, 0],
      [-closed, -closed, 0, 0],
      [0.5, 0.5, 0, 0],
      [-0.5, -0.5, 0, 0],
    ],
  );
});

test("gatedIntrinsic adds to what is there, and leaves out who has no outcome", () => {
  const made = evidence([[1, 1]], [6, 2]);
  const soFar = new Map([["0.0", Float32Array.of(1, 1, 1, 1)]]);
  near(apply(made, {}, soFar).slice(0, 1), [[1.5, 1.5, 1, 1]]);
  const silent = { ...made, channels: { gain: made.channels.gain! } };
  const { advantages, stats } = gatedIntrinsic({ channel: "gain" }).apply(silent, null, undefined);
  assert.equal(advantages.size, 0);
  assert.deepEqual(stats, {});
});
