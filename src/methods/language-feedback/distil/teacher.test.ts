import assert from "node:assert/strict";
import { test } from "node:test";
import { annotated, bringsTheTeacher, kl, near } from "../../../../test/advantage/teacher.ts";
import { disagreementToGo } from "./disagreementToGo.ts";

test("disagreementToGo: what is still to come, against the same token of the group", () => {
  const { advantages, stats } = disagreementToGo({ discount: 0.5 }).apply(annotated, null, undefined);
  // h(a) = 0, kl .8, kl .9 and h(b) = kl .25, kl .6
  const [a0, a1] = [kl(0.8) + 0.5 * kl(0.9), kl(0.9)];
  const [b0, b1] = [kl(0.6), 0];
  near(advantages.get("a"), [-(a0 - b0) / 2, -(a1 - b1) / 2, 0]);
  near(advantages.get("b"), [(a0 - b0) / 2, (a1 - b1) / 2]);
  near([stats.disagreement!], [(kl(0.8) + kl(0.9) + kl(0.25) + kl(0.6)) / 5]);
});

test("with a weight of 0, and in a group of one, nothing later counts", () => {
  const none = disagreementToGo({ weight: 0 }).apply(annotated, null, undefined);
  for (const own of none.advantages.values()) assert.ok(own.every((x) => Object.is(Math.abs(x), 0)));
  const alone = { ...annotated, units: annotated.units.slice(0, 1) };
  near(disagreementToGo().apply(alone, null, undefined).advantages.get("a"), [0, 0, 0]);
});

bringsTheTeacher(disagreementToGo());
