/** A teacher's log-probabilities for a few attempts, for the tests of estimators that use a teacher. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Hindsight, hindsightIn, hindsightNotes } from "../../src/common/tokens/hindsight.ts";
import { batchOf, selectRows } from "../../src/common/tokens/pack.ts";
import type { Advantage, AnnotatedExperience } from "../../src/core/slots.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

/** One id per token: the student's probability is 1/2, the teacher's are these. */
const own = (...teacher: readonly number[]): Hindsight => ({
  k: 1,
  written_A: Float32Array.from(teacher, Math.log),
  ids_AK: Float32Array.from(teacher, (_, a) => 10 + a),
  teacher_AK: Float32Array.from(teacher, Math.log),
  student_AK: new Float32Array(teacher.length).fill(Math.log(0.5)),
});
/** KL((q, 1 − q) ‖ (½, ½)). */
export const kl = (q: number): number => q * Math.log(2 * q) + (1 - q) * Math.log(2 * (1 - q));

/** Attempts a (two turns: 1 and 2 tokens), b (2 tokens) and one without a teacher, in one group. */
const trajectories = [
  trajectoryOf("a", [turnOf([1], [2]), turnOf([1, 2, 3], [4, 5])]),
  trajectoryOf("b", [turnOf([1], [2, 3])]),
  trajectoryOf("untaught", [turnOf([1], [2])]),
];
export const annotated: AnnotatedExperience = {
  trajectories,
  units: trajectories.map((t) => ({ id: t.id, group: "task", members: [t.id] })),
  notes: hindsightNotes(
    "teacher",
    new Map([
      ["a", own(0.5, 0.8, 0.9)],
      ["b", own(0.25, 0.6)],
    ]),
  ),
  signals: [],
  channels: {},
};
export const near = (got: ArrayLike<number> | undefined, expected: readonly number[]): void => {
  assert.equal(got?.length, expected.length);
  for (const [i, x] of expected.entries())
    assert.ok(Math.abs(got![i]! - x) < 1e-6, `[${i}] ${got![i]}, expected ${x}`);
};

/** Tests that the teacher's outputs are passed on to the objective. */
export function bringsTheTeacher(estimator: Advantage<null>): void {
  test("the teacher's ids and log-probabilities arrive in the batch, row by row", () => {
    const { advantages, columns } = estimator.apply(annotated, null, undefined);
    const { batch } = batchOf(trajectories, annotated.units, advantages, [], columns);
    const { k, ids, logp } = hindsightIn(selectRows(batch, [1, 0]), "teacher");
    assert.equal(k, 1);
    assert.deepEqual([...ids], [10, 11, 10, 11, 12]);
    near(logp, [0.25, 0.6, 0.5, 0.8, 0.9].map(Math.log));
    assert.equal(hindsightIn(batch, "another").k, 0);
  });
}
