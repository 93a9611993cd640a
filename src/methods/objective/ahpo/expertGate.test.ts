import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceOf } from "../../../../test/core/make.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { type ExpertGateOptions, expertGate } from "./expertGate.ts";

/** The last of each group is the expert's. */
function withExpert(rewards: readonly (readonly (number | undefined)[])[]): AnnotatedExperience {
  const annotated = evidenceOf(rewards);
  const shown = new Set(rewards.map((group, g) => `${g}.${group.length - 1}`));
  const trajectories = annotated.trajectories.map((t) =>
    shown.has(t.id) ? { ...t, origin: "demonstrated" as const } : t,
  );
  return { ...annotated, trajectories };
}

function gates(rewards: readonly (readonly (number | undefined)[])[], options: ExpertGateOptions = {}) {
  const { advantages, stats } = expertGate(options).apply(withExpert(rewards), null, undefined);
  return {
    xi: rewards.map((group, g) => advantages.get(`${g}.${group.length - 1}`)![0]!),
    advantages,
    stats,
  };
}

test("the expert counts where nothing succeeded, however well it did itself", () => {
  const { xi, advantages, stats } = gates([
    [0, 0.6, 1],
    [0, 1, 0.6],
    [undefined, undefined, 1],
  ]);
  assert.deepEqual(xi, [1, 0, 1]);
  assert.deepEqual([...advantages.keys()], ["0.2", "1.2", "2.2"]);
  assert.ok(Math.abs(stats.expert! - 2 / 3) < 1e-12);
});

test("more successes may be asked for, at once or by and by", () => {
  const rewards = [
    [0, 0, 0, 1],
    [1, 0, 0, 1],
    [1, 1, 0, 1],
  ];
  assert.deepEqual(gates(rewards, { successes: 2 }).xi, [1, 1, 0]);
  assert.deepEqual(gates(rewards, { successes: 2, gate: "soft" }).xi, [1, 0.5, 0]);
  assert.deepEqual(gates([[0.6, 0, 1]], { threshold: 0.5 }).xi, [0]);
});

test("what others made of the sampled ones stays, and without demonstrations nothing is added", () => {
  const soFar = new Map([
    ["0.0", Float32Array.of(0.5, -0.5)],
    ["0.1", Float32Array.of(0, 0)],
  ]);
  const { advantages } = expertGate().apply(withExpert([[0, 1]]), null, soFar);
  assert.deepEqual([...advantages.get("0.0")!], [0.5, -0.5]);
  assert.deepEqual([...advantages.get("0.1")!], [1, 1]);
  const { advantages: none, stats } = expertGate().apply(evidenceOf([[1, 0]]), null, undefined);
  assert.equal(none.size, 0);
  assert.deepEqual(stats, {});
});
