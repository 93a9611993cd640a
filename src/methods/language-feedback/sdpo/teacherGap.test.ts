import assert from "node:assert/strict";
import { test } from "node:test";
import { annotated, bringsTheTeacher, near } from "../../../../test/advantage/teacher.ts";
import { teacherGap } from "./teacherGap.ts";

test("teacherGap: the teacher's log-probability less the sampler's, on every token written", () => {
  const { advantages, stats } = teacherGap({ weight: 2 }).apply(annotated, null, undefined);
  // sampled with −0.1, then −0.1 and −0.2
  near(advantages.get("a"), [
    2 * (Math.log(0.5) + 0.1),
    2 * (Math.log(0.8) + 0.1),
    2 * (Math.log(0.9) + 0.2),
  ]);
  assert.equal(advantages.has("untaught"), false);
  assert.equal(stats.taught, 2 / 3);
});

bringsTheTeacher(teacherGap());
