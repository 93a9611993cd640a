import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import { againstFirstAttempts } from "./againstFirstAttempts.ts";

interface Made {
  readonly id: string;
  readonly group: string;
  readonly parent?: string;
  readonly value?: number;
}

function evidence(made: readonly Made[]): AnnotatedExperience {
  const trajectories = made.map(({ id, parent }): Trajectory => {
    const lineage = parent === undefined ? {} : { lineage: { parent, turn: 0, why: "rewrite" as const } };
    return trajectoryOf(id, [turnOf([1], [2, 3])], lineage);
  });
  return {
    trajectories,
    units: made.map(({ id, group }) => ({ id, group, members: [id] })),
    notes: {},
    signals: [],
    channels: {
      outcome: made.flatMap(({ id, value }) =>
        value === undefined ? [] : [{ at: { trajectory: id }, value }],
      ),
    },
  };
}

const apply = (made: readonly Made[], soFar?: ReadonlyMap<string, Float32Array>) =>
  againstFirstAttempts({ channels: ["outcome"] }).apply(evidence(made), null, soFar);
const values = (advantages: ReadonlyMap<string, Float32Array>) =>
  Object.fromEntries([...advantages].map(([id, own]) => [id, [...own]]));

test("a retry is compared with the first attempts of its group, not with other retries", () => {
  const { advantages, stats } = apply([
    { id: "a", group: "g", value: 0 },
    { id: "b", group: "g", value: 0.5 },
    { id: "c", group: "other", value: 1 },
    { id: "a'", group: "g/plain", parent: "a", value: 1 },
    { id: "b'", group: "g/plain", parent: "b", value: 1 },
  ]);
  // 1 − (0 + 0.5)/2, though both retries are equal
  assert.deepEqual(values(advantages), { "a'": [0.75, 0.75], "b'": [0.75, 0.75] });
  assert.deepEqual(stats, { gain: 0.75 });
});

test("retries in the group of their first attempts do not raise the baseline", () => {
  const { advantages } = apply([
    { id: "a", group: "g", value: 0 },
    { id: "a'", group: "g", parent: "a", value: 1 },
  ]);
  assert.deepEqual(values(advantages), { "a'": [1, 1] });
});

test("what others made of retries is replaced, of first attempts kept", () => {
  const soFar = new Map([
    ["a", Float32Array.of(2, 2)],
    ["a'", Float32Array.of(9, 9)],
    ["b'", Float32Array.of(9, 9)],
  ]);
  const made = [
    { id: "a", group: "g", value: 0.25 },
    { id: "a'", group: "g/plain", parent: "a", value: 0 },
    { id: "b'", group: "g/plain", parent: "b", value: 0 }, // whose first attempt nobody knows
  ];
  assert.deepEqual(values(apply(made, soFar).advantages), { a: [2, 2], "a'": [-0.25, -0.25] });
});

test("no returns, no advantages; a first attempt without a return is no baseline", () => {
  assert.deepEqual(apply([{ id: "a", group: "g", value: 1 }]).stats, {});
  const made = [
    { id: "a", group: "g" },
    { id: "a'", group: "g/plain", parent: "a", value: 1 },
  ];
  assert.equal(apply(made).advantages.size, 0);
});
