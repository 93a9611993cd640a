import assert from "node:assert/strict";
import { test } from "node:test";
import { exponentialWeights } from "../../src/advantage/exponentialWeights.ts";
import { randomStream } from "../../src/core/random.ts";
import type { AnnotatedExperience } from "../../src/core/slots.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const t = trajectoryOf("a", [turnOf([1], [2, 3]), turnOf([1], [4])]);
const annotated = (noted: readonly number[]): AnnotatedExperience => ({
  trajectories: [t, { ...t, id: "b" }],
  units: [{ id: "a", group: "g", members: ["a"] }],
  notes: { advantage: new Map(["a", "b"].map((id) => [id, Float32Array.from(noted)])) },
  signals: [],
  channels: {},
});

test("a turn's tokens weigh exp(β A), at most the cap; who is in no unit weighs nothing", () => {
  // exp(2 · ln 2) = 4 on both tokens of the first turn; exp(2 · 3) is above the cap of 5
  const { advantages, stats } = exponentialWeights({ beta: 2, most: 5 }).apply(
    annotated([Math.log(2), 3]),
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
  const { advantages } = exponentialWeights({ beta: 0 }).apply(annotated([7, -7]), null, before);
  assert.deepEqual([...advantages.get("a")!], [2, 3, 4]);
});

test("tilts add to the exponent, and a group's mean weight is 1 where it is asked for", () => {
  // turns of a: β A + e·tilt = ln 2 + ½ ln 4 = ln 4 and 0 + ½ ln 16 = ln 4; of b: 0 and NaN. Mean of 4, 4 and 1 is 3
  const of: AnnotatedExperience = {
    ...annotated([0, 0]),
    units: ["a", "b"].map((id) => ({ id, group: "g", members: [id] })),
    notes: {
      advantage: new Map([
        ["a", Float32Array.of(Math.log(2), 0)],
        ["b", Float32Array.of(0, 0)],
      ]),
      near: new Map([
        ["a", Float32Array.of(Math.log(4), Math.log(16))],
        ["b", Float32Array.of(0, Number.NaN)],
      ]),
    },
  };
  const weightsOf = (scale: "none" | "group", most = 100) => {
    const { advantages } = exponentialWeights({ beta: 1, tilts: { near: 0.5 }, scale, most }).apply(
      of,
      null,
      undefined,
    );
    return ["a", "b"].flatMap((id) => [...advantages.get(id)!]).map((w) => Math.round(w * 1e4) / 1e4);
  };
  // two tokens in the first turn, one in the second
  assert.deepEqual(weightsOf("none"), [4, 4, 4, 1, 1, 0]);
  assert.deepEqual(weightsOf("group"), [1.3333, 1.3333, 1.3333, 0.3333, 0.3333, 0]);
  assert.deepEqual(weightsOf("group", 1.25), [1.25, 1.25, 1.25, 0.3333, 0.3333, 0]);
});

test("what the weights are fitted to is the best of A near the tilting policies: no other policy does better", () => {
  // one state, four actions, each logged once; weights times the logger are the product of both policies tilted by A
  const random = randomStream(7);
  const policy = (): number[] => {
    const raw = Array.from({ length: 4 }, () => Math.exp(random.normal()));
    return raw.map((x) => x / raw.reduce((a, b) => a + b, 0));
  };
  const [logger, first, second] = [policy(), policy(), policy()];
  const gain = Array.from({ length: 4 }, () => random.normal());
  const [one, two] = [0.3, 0.1]; // λ of the two, so Λ = 0.4
  const trajectories = gain.map((_, a) => trajectoryOf(`${a}`, [turnOf([1], [a])]));
  const note = (of: (a: number) => number) =>
    new Map(trajectories.map(({ id }, a) => [id, Float32Array.of(of(a))]));
  const of: AnnotatedExperience = {
    ...annotated([]),
    trajectories,
    units: trajectories.map(({ id }) => ({ id, group: "g", members: [id] })),
    notes: {
      advantage: note((a) => gain[a]!),
      first: note((a) => Math.log(first[a]! / logger[a]!)),
      second: note((a) => Math.log(second[a]! / logger[a]!)),
    },
  };
  const tilts = { first: one / (one + two), second: two / (one + two) };
  const made = exponentialWeights({ beta: 1 / (one + two), tilts, scale: "group", most: 1e9 }).apply(
    of,
    null,
    undefined,
  );
  const mass = logger.map((b, a) => b * made.advantages.get(`${a}`)![0]!);
  const fitted = mass.map((m) => m / mass.reduce((x, y) => x + y, 0));
  const worth = (pi: readonly number[]): number =>
    pi.reduce(
      (sum, p, a) => sum + p * (gain[a]! - one * Math.log(p / first[a]!) - two * Math.log(p / second[a]!)),
      0,
    );
  const best = worth(fitted);
  for (let i = 0; i < 500; i++) {
    const moved = fitted.map((p) => p * Math.exp(0.3 * random.normal()));
    const total = moved.reduce((x, y) => x + y, 0);
    assert.ok(worth(moved.map((p) => p / total)) <= best + 1e-7);
  }
});

test("the mean of a group does not overflow where its weights would", () => {
  const of = { ...annotated([1000, 1000]), units: [{ id: "a", group: "g", members: ["a"] }] };
  const { advantages } = exponentialWeights({ beta: 1, scale: "group" }).apply(of, null, undefined);
  assert.deepEqual([...advantages.get("a")!], [1, 1, 1]);
});

test("a note that nobody made is said", () => {
  assert.throws(
    () => exponentialWeights({ note: "none" }).apply(annotated([0, 0]), null, undefined),
    /note "none"/,
  );
});
