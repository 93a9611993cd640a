import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Ending } from "../../../core/types.ts";
import { type OverTurnMaskOptions, overTurnMask } from "./overTurnMask.ts";

const over = (limit: "turns" | "seconds"): Ending => ({ kind: "truncated", limit, at: 6 });

function ended(
  rewards: readonly (readonly number[])[],
  ends: Readonly<Record<string, Ending>>,
): AnnotatedExperience {
  const annotated = evidenceOf(rewards);
  const trajectories = annotated.trajectories.map((t) => ({ ...t, end: ends[t.id] ?? t.end }));
  return { ...annotated, trajectories };
}

function masked(annotated: AnnotatedExperience, options: OverTurnMaskOptions = {}) {
  const compared = groupNormalised().apply(annotated, null, undefined).advantages;
  return { compared, ...overTurnMask(options).apply(annotated, null, compared) };
}

test("attempts that were cut off count in the comparison and are not trained on", () => {
  const annotated = ended([[1, 0, 0, 0]], { "0.2": over("turns"), "0.3": over("turns") });
  const { advantages, compared, stats } = masked(annotated);
  assert.deepEqual([...advantages.keys()], ["0.0", "0.1"]);
  // mean 1/4 and std √3/4 of all four: (1 − 1/4)/(√3/4) = √3, not the 1 that the two finished ones would give
  assert.ok(Math.abs(advantages.get("0.0")![0]! - Math.sqrt(3)) < 1e-6);
  assert.equal(advantages.get("0.1"), compared.get("0.1"));
  assert.equal(stats.finished, 0.5);
});

test("a group with fewer than two finished attempts is left out, the others stay", () => {
  const ends = { "0.1": over("turns"), "0.2": over("turns") };
  const { advantages } = masked(
    ended(
      [
        [1, 0, 0],
        [1, 0],
      ],
      ends,
    ),
  );
  assert.deepEqual([...advantages.keys()], ["1.0", "1.1"]);
});

test("limits that count against an attempt can be said", () => {
  const annotated = ended([[1, 0, 0]], { "0.2": over("seconds") });
  assert.equal(masked(annotated).advantages.size, 3);
  assert.equal(masked(annotated, { limits: ["seconds"] }).advantages.size, 2);
});

test("nothing before it and nobody there make nothing", () => {
  assert.equal(overTurnMask().apply(evidenceOf([[1, 0]]), null, undefined).advantages.size, 0);
  assert.deepEqual(overTurnMask().apply(evidenceOf([]), null, undefined).stats, {});
});
