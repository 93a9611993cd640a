import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Advantages, AnnotatedExperience } from "../../../core/slots.ts";
import { entropyModulated } from "./entropyModulated.ts";

/** One group; each response has two tokens of this entropy, in nats. */
function responses(entropies: readonly (readonly number[])[]): AnnotatedExperience {
  const trajectories = entropies.map((turns, i) =>
    trajectoryOf(
      `${i}`,
      turns.map((nats) => {
        const turn = turnOf([1], [2, 3]);
        return { ...turn, tokens: { ...turn.tokens!, entropy: Float32Array.of(nats / 2, (3 * nats) / 2) } };
      }),
    ),
  );
  return {
    ...evidenceOf([]),
    trajectories,
    units: trajectories.map((t) => ({ id: t.id, group: "g", members: [t.id] })),
  };
}

const ones = ({ trajectories }: AnnotatedExperience): Advantages =>
  new Map(trajectories.map((t) => [t.id, new Float32Array(2 * t.turns.length).fill(1)]));

/** The factor of every response. */
function factors(entropies: readonly (readonly number[])[], strength?: number): number[][] {
  const annotated = responses(entropies);
  const estimator = entropyModulated(strength === undefined ? {} : { strength });
  const { advantages } = estimator.apply(annotated, null, ones(annotated));
  return entropies.map((turns, i) => turns.map((_, k) => advantages.get(`${i}`)![2 * k]!));
}

test("entropyModulated is worked by hand", () => {
  // û = 0, 1, 1/2; e^−û = 1, 0.3679, 0.6065, mean 0.6581
  const [sure, unsure, middle] = [1, Math.exp(-1), Math.exp(-0.5)];
  const mean = (sure + unsure + middle) / 3;
  const got = factors([[0.5, 1.5], [1]]);
  [sure, unsure].forEach((w, k) => {
    assert.ok(Math.abs(got[0]![k]! - w / mean) < 1e-6);
  });
  assert.ok(Math.abs(got[1]![0]! - middle / mean) < 1e-6);
});

test("factors have the mean 1 over the responses of a group, and favour the sure ones where k > 0", () => {
  const nats = fc.array(
    fc.array(fc.double({ min: 0, max: 3, noNaN: true }), { minLength: 1, maxLength: 4 }),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  fc.assert(
    fc.property(nats, fc.constantFrom(-1, 1, 3), (entropies, k) => {
      const c = factors(entropies, k).flat();
      assert.ok(Math.abs(c.reduce((a, b) => a + b, 0) / c.length - 1) < 1e-5);
      const u = entropies.flat();
      const [surest, least] = [u.indexOf(Math.min(...u)), u.indexOf(Math.max(...u))];
      assert.ok(k * (c[surest]! - c[least]!) >= 0);
    }),
    { seed: 4, numRuns: 50 },
  );
});

test("equally sure responses keep their advantages to the last bit", () => {
  const annotated = responses([[0.7, 0.7], [0.7]]);
  const soFar = new Map([
    ["0", Float32Array.of(0.1, 0.2, 0.3, 0.4)],
    ["1", Float32Array.of(-5, 6)],
  ]);
  assert.deepEqual(entropyModulated().apply(annotated, null, soFar).advantages, soFar);
});

test("without entropies the surprisal of the tokens decides; without advantages there is nothing to scale", () => {
  // turnOf gives log-probabilities −0.1, −0.2, …: one token has the mean 0.1, three have 0.2
  const trajectories = [
    trajectoryOf("short", [turnOf([1], [2])]),
    trajectoryOf("long", [turnOf([1], [2, 3, 4])]),
  ];
  const units = trajectories.map((t) => ({ id: t.id, group: "g", members: [t.id] }));
  const evidence = { ...evidenceOf([]), trajectories, units };
  const soFar = new Map([
    ["short", Float32Array.of(1)],
    ["long", Float32Array.of(1, 1, 1)],
  ]);
  const { advantages, stats } = entropyModulated().apply(evidence, null, soFar);
  const mean = (1 + Math.exp(-1)) / 2;
  assert.ok(Math.abs(advantages.get("short")![0]! - 1 / mean) < 1e-6);
  assert.ok(Math.abs(advantages.get("long")![2]! - Math.exp(-1) / mean) < 1e-6);
  assert.ok(Number.isFinite(stats["coefficient.deviation"]));
  const none = entropyModulated().apply(evidence, null, undefined);
  assert.equal(none.advantages.size, 0);
  assert.deepEqual(none.stats, {});
});

test("the identity behind it: a small natural-gradient step changes the entropy by η Cov(A, surprisal)", () => {
  const logits = [0.4, -1, 1.3, 0, -0.2];
  const A = [1, -0.5, 0.25, -2, 0.75];
  const softmax = (zs: readonly number[]): number[] => {
    const total = zs.reduce((sum, z) => sum + Math.exp(z), 0);
    return zs.map((z) => Math.exp(z) / total);
  };
  const entropy = (p: readonly number[]): number => -p.reduce((sum, x) => sum + x * Math.log(x), 0);
  const p = softmax(logits);
  const H = entropy(p);
  const covariance = p.reduce((sum, x, y) => sum + x * A[y]! * (-Math.log(x) - H), 0);
  for (const eta of [1e-3, 1e-4]) {
    const change = entropy(softmax(logits.map((z, y) => z + eta * A[y]!))) - H;
    assert.ok(Math.abs(change / (eta * covariance) - 1) < 20 * eta, `${change} for ${eta * covariance}`);
  }
});
