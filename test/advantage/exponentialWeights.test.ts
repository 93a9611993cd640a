import assert from "node:assert/strict";
import { test } from "node:test";
import { exponentialWeights } from "../../src/advantage/exponentialWeights.ts";
import type { Evidence } from "../../src/core/slots.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const t = trajectoryOf("a", [turnOf([1], [2, 3]), turnOf([1], [4])]);
const evidence = (noted: readonly number[]): Evidence => ({
  trajectories: [t, { ...t, id: "b" }],
  units: [{ id: "a", group: "g", members: ["a"] }],
  notes: { advantage: new Map(["a", "b"].map((id) => [id, Float32Array.from(noted)])) },
  signals: [],
  channels: {},
});

test("a turn's tokens weigh exp(β A), at most the cap; who is in no unit weighs nothing", () => {
  // exp(2 · ln 2) = 4 on both tokens of the first turn; exp(2 · 3) is above the cap of 5
  const { advantages, stats } = exponentialWeights({ beta: 2, most: 5 }).apply(
    evidence([Math.log(2), 3]),
    null,
    undefined,
  );
  const weights = [...advantages.get("a")!];
  assert.ok(Math.abs(weights[0]! - 4) < 1e-5 && weights[0] === weights[1]);
  assert.equal(weights[2], 5);
  assert.equal(advantages.has("b"), false);
  assert.ok(Math.abs(stats.weight! - 4.5) < 1e-5);
  assert.equal(stats.capped, 0.5);
});

test("without β everything is imitated alike, and weights add to what was there", () => {
  const before = new Map([["a", Float32Array.of(1, 2, 3)]]);
  const { advantages } = exponentialWeights({ beta: 0 }).apply(evidence([7, -7]), null, before);
  assert.deepEqual([...advantages.get("a")!], [2, 3, 4]);
});

test("a note that nobody made is said", () => {
  assert.throws(
    () => exponentialWeights({ note: "none" }).apply(evidence([0, 0]), null, undefined),
    /note "none"/,
  );
});
