import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { scalarised } from "./scalarised.ts";

/** Two groups of two; `love` and `help` by unit, in order. */
function evidence(
  love: readonly (number | undefined)[],
  help: readonly (number | undefined)[],
): AnnotatedExperience {
  const base = evidenceOf([
    [0, 0],
    [0, 0],
  ]);
  const channel = (values: readonly (number | undefined)[]) =>
    base.units.flatMap(({ id }, i) =>
      values[i] === undefined ? [] : [{ at: { trajectory: id }, value: values[i] }],
    );
  return { ...base, channels: { love: channel(love), help: channel(help) } };
}

const values = (
  of: AnnotatedExperience,
  options: Parameters<typeof scalarised>[0],
): (number | undefined)[] => {
  const { advantages } = scalarised(options).apply(of, null, undefined);
  return of.units.map(({ id }) => {
    const own = advantages.get(id);
    assert.ok(!own || own.every((a) => a === own[0]), "the same on every token");
    return own?.[0];
  });
};
const near = (got: readonly (number | undefined)[], want: readonly (number | undefined)[]): void =>
  got.forEach((g, i) => {
    assert.ok(g === want[i] || Math.abs(g! - want[i]!) < 1e-6, `${got}, not ${want}`);
  });

test("scalarised is worked by hand: each objective in its own deviations, weights brought to 1", () => {
  // love 0 0 1 1: mean 0.5, deviation 0.5, z = −1 −1 1 1; help 10 30 10 30: z = −1 1 −1 1; weights 1 : 3
  const of = evidence([0, 0, 1, 1], [10, 30, 10, 30]);
  near(values(of, { weights: { love: 1, help: 3 } }), [-1, 0.5, -0.5, 1]);
  // a unit of measurement more or less changes nothing
  const scaled = evidence([0, 0, 9, 9], [1, 3, 1, 3]);
  near(values(scaled, { weights: { love: 1, help: 3 } }), [-1, 0.5, -0.5, 1]);
  // within groups all agree on love; help is −1 1 in each
  near(values(of, { weights: { love: 1, help: 3 }, pool: "group" }), [-0.75, 0.75, -0.75, 0.75]);
});

test("scalarised: silence is the mean and not a 0; silence on everything is left out", () => {
  // love of three: 1 4 7, z = −√1.5 0 √1.5; help of two: −1 1; weights 1/2
  const of = evidence([1, undefined, 4, 7], [10, undefined, undefined, 30]);
  const z = Math.sqrt(1.5);
  near(values(of, { weights: { love: 1, help: 1 } }), [(-z - 1) / 2, undefined, 0, (z + 1) / 2]);
  near(values(evidence([2, 2, 2, 2], []), { weights: { love: 1 } }), [0, 0, 0, 0]);
});

test("scalarised: below a gate nothing makes up for it", () => {
  const of = evidence([0, 0, 1, 1], [10, 30, 10, 30]);
  // alone love says −1 −1 1 1; those with help under 20 fall to the lowest
  const options = { weights: { love: 1 }, gates: { help: 20 } };
  near(values(of, options), [-1, -1, -1, 1]);
  assert.deepEqual(scalarised(options).apply(of, null, undefined).stats, { gated: 0.5 });
  // within groups the lowest is that of the group: both of a group agree, so all are 0
  near(values(of, { ...options, pool: "group" }), [0, 0, 0, 0]);
});
