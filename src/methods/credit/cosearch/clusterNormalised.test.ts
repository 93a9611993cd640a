import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience, Credited } from "../../../core/slots.ts";
import { clusterNormalised, overlap } from "./clusterNormalised.ts";

interface Call {
  readonly asked: string;
  readonly value: number;
  readonly channel?: string;
}

/** Trajectories of one task whose turns are these calls, two tokens each. */
function evidenceOf(
  calls: readonly (readonly Call[])[],
  task = (_i: number): string => "task",
): AnnotatedExperience {
  const trajectories = calls.map((own, i) =>
    trajectoryOf(
      `t${i}`,
      own.map(({ asked }, k) =>
        turnOf([1, k], [2, 3], { prompt: [{ role: "user", content: `${asked}\ncandidates` }] }),
      ),
      { task: task(i) },
    ),
  );
  const channels: Record<string, Credited[]> = {};
  calls.forEach((own, i) => {
    own.forEach(({ value, channel = "a" }, turn) => {
      (channels[channel] ??= []).push({ at: { trajectory: `t${i}`, turn }, value });
    });
  });
  const units = trajectories.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
  return { trajectories, units, notes: {}, signals: [], channels };
}
const apply = (annotated: AnnotatedExperience, channels = ["a"]) =>
  clusterNormalised({ channels }).apply(annotated, null, undefined);

test("overlap is the F1 of shared words, counted", () => {
  // 2 shared of 3 and 2: 4/5. "b b" and "b": 1 shared: 2/3
  assert.equal(overlap(["x", "y", "z"], ["x", "y"]), 4 / 5);
  assert.equal(overlap(["b", "b"], ["b"]), 2 / 3);
  assert.equal(overlap(["b"], ["c"]), 0);
  assert.equal(overlap([], []), 1);
});

test("calls about the same are compared with each other, wherever in an episode they stand", () => {
  // "capital of France": 1, 0, 0: mean 1/3, std √2/3: √2, −1/√2, −1/√2; the other: 2 and 4: −1, 1
  const { advantages, stats } = apply(
    evidenceOf([
      [
        { asked: "The capital of France?", value: 1 },
        { asked: "height of Everest", value: 2 },
      ],
      [
        { asked: "height of the Everest", value: 4 },
        { asked: "capital of france", value: 0 },
      ],
      [{ asked: "a capital of France", value: 0 }],
    ]),
  );
  const high = Math.fround(Math.SQRT2);
  const low = Math.fround(-Math.SQRT1_2);
  const close = (got: Float32Array, want: readonly number[]): void =>
    want.forEach((w, a) => {
      assert.ok(Math.abs(got[a]! - w) < 1e-6, `${got}`);
    });
  close(advantages.get("t0")!, [high, high, -1, -1]);
  close(advantages.get("t1")!, [1, 1, low, low]);
  close(advantages.get("t2")!, [low, low]);
  assert.deepEqual(stats, { clusters: 2, aloneCalls: 0 });
});

test("alone, among equals, of another task or channel: compared with nobody, 0", () => {
  const alone = apply(evidenceOf([[{ asked: "x", value: 5 }], [{ asked: "y", value: 1 }]]));
  assert.deepEqual([...alone.advantages.get("t0")!, ...alone.advantages.get("t1")!], [0, 0, 0, 0]);
  assert.deepEqual(alone.stats, { clusters: 2, aloneCalls: 1 });
  const equal = apply(evidenceOf([[{ asked: "x", value: 0.1 }], [{ asked: "x", value: 0.1 }]]));
  assert.deepEqual([...equal.advantages.get("t0")!], [0, 0]);
  const tasks = apply(
    evidenceOf([[{ asked: "x", value: 1 }], [{ asked: "x", value: 0 }]], (i) => `task${i}`),
  );
  assert.deepEqual([...tasks.advantages.get("t0")!], [0, 0]);
  const apart = evidenceOf([[{ asked: "x", value: 1 }], [{ asked: "x", value: 0, channel: "b" }]]);
  assert.deepEqual([...apply(apart, ["a", "b"]).advantages.get("t0")!], [0, 0]);
});

test("a call joins by the cluster's first text, not by its last", () => {
  // 5 words, one differs: 0.8 joins; the third differs from the first in two: 0.6
  const { stats } = apply(
    evidenceOf([
      [{ asked: "p q r s t", value: 1 }],
      [{ asked: "p q r s u", value: 0 }],
      [{ asked: "p q r v u", value: 0 }],
    ]),
  );
  assert.deepEqual(stats, { clusters: 2, aloneCalls: 1 / 3 });
});

test("without credits there is nothing; what is there is added to", () => {
  assert.deepEqual(apply(evidenceOf([]), ["a"]), {
    advantages: new Map(),
    next: null,
    stats: { clusters: 0 },
  });
  const annotated = evidenceOf([[{ asked: "x", value: 1 }], [{ asked: "x", value: 0 }]]);
  const soFar = new Map([
    ["t0", Float32Array.of(2, 3)],
    ["other", Float32Array.of(9)],
  ]);
  const { advantages } = clusterNormalised({ channels: ["a"] }).apply(annotated, null, soFar);
  assert.deepEqual([...advantages.get("t0")!], [3, 4]);
  assert.deepEqual([...advantages.get("other")!], [9]);
});
