import assert from "node:assert/strict";
import { test } from "node:test";
import { disagreementToGo } from "../../src/advantage/disagreementToGo.ts";
import { teacherGap } from "../../src/advantage/teacherGap.ts";
import { type Hindsight, hindsightIn, hindsightNotes } from "../../src/core/hindsight.ts";
import { batchOf, selectRows } from "../../src/core/pack.ts";
import type { Evidence } from "../../src/core/slots.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

/** One id per token: the student says it with 1/2, the teacher with these probabilities. */
const own = (...teacher: readonly number[]): Hindsight => ({
  k: 1,
  written_A: Float32Array.from(teacher, Math.log),
  ids_AK: Float32Array.from(teacher, (_, a) => 10 + a),
  teacher_AK: Float32Array.from(teacher, Math.log),
  student_AK: new Float32Array(teacher.length).fill(Math.log(0.5)),
});
/** KL((q, 1 − q) ‖ (½, ½)). */
const kl = (q: number): number => q * Math.log(2 * q) + (1 - q) * Math.log(2 * (1 - q));

/** Attempts a (two turns: 1 and 2 tokens), b (2 tokens) and one without a teacher, in one group. */
const trajectories = [
  trajectoryOf("a", [turnOf([1], [2]), turnOf([1, 2, 3], [4, 5])]),
  trajectoryOf("b", [turnOf([1], [2, 3])]),
  trajectoryOf("untaught", [turnOf([1], [2])]),
];
const evidence: Evidence = {
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
const near = (got: ArrayLike<number> | undefined, expected: readonly number[]): void => {
  assert.equal(got?.length, expected.length);
  for (const [i, x] of expected.entries())
    assert.ok(Math.abs(got![i]! - x) < 1e-6, `[${i}] ${got![i]}, expected ${x}`);
};

test("teacherGap: the teacher's log-probability less the sampler's, on every token written", () => {
  const { advantages, stats } = teacherGap({ weight: 2 }).apply(evidence, null, undefined);
  // sampled with −0.1, then −0.1 and −0.2
  near(advantages.get("a"), [
    2 * (Math.log(0.5) + 0.1),
    2 * (Math.log(0.8) + 0.1),
    2 * (Math.log(0.9) + 0.2),
  ]);
  assert.equal(advantages.has("untaught"), false);
  assert.equal(stats.taught, 2 / 3);
});

test("disagreementToGo: what is still to come, against the same token of the group", () => {
  const { advantages, stats } = disagreementToGo({ discount: 0.5 }).apply(evidence, null, undefined);
  // h(a) = 0, kl .8, kl .9 and h(b) = kl .25, kl .6
  const [a0, a1] = [kl(0.8) + 0.5 * kl(0.9), kl(0.9)];
  const [b0, b1] = [kl(0.6), 0];
  near(advantages.get("a"), [-(a0 - b0) / 2, -(a1 - b1) / 2, 0]);
  near(advantages.get("b"), [(a0 - b0) / 2, (a1 - b1) / 2]);
  near([stats.disagreement!], [(kl(0.8) + kl(0.9) + kl(0.25) + kl(0.6)) / 5]);
});

test("with a weight of 0, and in a group of one, nothing later counts", () => {
  const none = disagreementToGo({ weight: 0 }).apply(evidence, null, undefined);
  for (const own of none.advantages.values()) assert.ok(own.every((x) => Object.is(Math.abs(x), 0)));
  const alone = { ...evidence, units: evidence.units.slice(0, 1) };
  near(disagreementToGo().apply(alone, null, undefined).advantages.get("a"), [0, 0, 0]);
});

test("the teacher's ids and log-probabilities arrive in the batch, row by row", () => {
  for (const estimator of [teacherGap(), disagreementToGo()]) {
    const { advantages, columns } = estimator.apply(evidence, null, undefined);
    const { batch } = batchOf(trajectories, evidence.units, advantages, [], columns);
    const { k, ids, logp } = hindsightIn(selectRows(batch, [1, 0]), "teacher");
    assert.equal(k, 1);
    assert.deepEqual([...ids], [10, 11, 10, 11, 12]);
    near(logp, [0.25, 0.6, 0.5, 0.8, 0.9].map(Math.log));
    assert.equal(hindsightIn(batch, "another").k, 0);
  }
});
