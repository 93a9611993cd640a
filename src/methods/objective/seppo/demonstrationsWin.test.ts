import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf } from "../../../../test/core/make.ts";
import type { Experience } from "../../../core/slots.ts";
import { demonstrationsWin } from "./demonstrationsWin.ts";

const group = (shown: number, sampled: number, name = "g"): Experience => {
  const trajectories = [
    ...Array.from({ length: sampled }, (_, i) => trajectoryOf(`${name}.s${i}`, [])),
    ...Array.from({ length: shown }, (_, i) => trajectoryOf(`${name}.d${i}`, [], { origin: "demonstrated" })),
  ];
  return { trajectories, units: trajectories.map(({ id }) => ({ id, group: name, members: [id] })) };
};
const pairs = async (experience: Experience) =>
  (await demonstrationsWin()(ctxOf({}), experience, {})).map((s) => {
    assert.ok(s.kind === "preference" && s.best === 0 && s.value === undefined);
    return s.about.map((r) => r.trajectory);
  });

test("demonstrationsWin: the shorter side starts over; one side alone says nothing", async () => {
  assert.deepEqual(await pairs(group(1, 2)), [
    ["g.d0", "g.s0"],
    ["g.d0", "g.s1"],
  ]);
  assert.deepEqual(await pairs(group(2, 1)), [
    ["g.d0", "g.s0"],
    ["g.d1", "g.s0"],
  ]);
  assert.deepEqual([await pairs(group(2, 0)), await pairs(group(0, 2))], [[], []]);
});

test("demonstrationsWin: groups are never mixed", async () => {
  const [a, b] = [group(1, 0, "a"), group(0, 1, "b")];
  const both = { trajectories: [...a.trajectories, ...b.trajectories], units: [...a.units, ...b.units] };
  assert.deepEqual(await pairs(both), []);
});
