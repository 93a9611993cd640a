import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import { withColumns } from "../../../common/tokens/pack.ts";
import type { Batch } from "../../../core/batch.ts";
import { regularisedNash, softmax } from "../../../worlds/equilibrium.ts";
import { revisionId } from "./revisions.ts";
import { selfImproving } from "./selfImproving.ts";

/** A pair of replies of one token and their four revisions; log-ratios are what is given, since the reference says 0. */
function pairBatch(strength = 1): Batch {
  const batch = batchOfRows(Array.from({ length: 6 }, () => ({ behaviour: [0], advantage: [0] })));
  const ids = ["w", "l", ...["w", "l"].flatMap((y) => ["w", "l"].map((d) => revisionId(y, d)))];
  const none = Number.NaN;
  return withColumns(
    { ...batch, rows: batch.rows.map((row, r) => ({ ...row, trajectory: ids[r]! })) },
    {
      "pair.0": Float32Array.of(1, -1, none, none, none, none),
      "pair.0.strength": Float32Array.of(strength, strength, none, none, none, none),
      "reference.logp": new Float32Array(6),
    },
  );
}
const evaluate = async (objective: ReturnType<typeof selfImproving>, batch: Batch, logp: Float32Array) =>
  objective.evaluate({ logp, heads: {} }, batch, await objective.prepare(ctxOf({}), batch));
const close = (got: number, want: number, tolerance = 1e-5): void =>
  assert.ok(Math.abs(got - want) <= tolerance, `${got}, expected ${want}`);

test("selfImproving by hand", async () => {
  // B(w) 0.5, B(l) −0.5, A(w|w) 0.25, A(w|l) 1, A(l|w) −1, A(l|l) 0; β = 1/2
  const logp = Float32Array.of(0.5, -0.5, 0.25, 1, -1, 0);
  // e₁ = (1 + 1 + 1)/2 − 1 = 0.5, e₂ = 1/2 − 1/2 = 0, e₃ = −1.25/2 + 1/2 = −0.125
  const objective = selfImproving({ beta: 0.5, improver: 0.25 });
  close((await evaluate(objective, pairBatch(), logp)).loss, 0.75 * 0.25 + 0.25 * 0.125 ** 2);
  // swapped: e₁ = −1.5 − 1, e₂ = β (A(l|w) − A(w|w)) − 1/2 = −1.125, e₃ = β (A(w|l) − A(l|l)) + 1/2 = 1
  const swapped = 0.75 * 6.25 + 0.25 * (1.125 ** 2 + 1);
  close((await evaluate(objective, pairBatch(0), logp)).loss, swapped);
  const mixed = (await evaluate(objective, pairBatch(0.25), logp)).loss;
  close(mixed, 0.25 * (0.75 * 0.25 + 0.25 * 0.125 ** 2) + 0.75 * swapped);
});

test("selfImproving: cotangents are the slope of the loss", async () => {
  const number = fc.double({ min: -2, max: 2, noNaN: true });
  const ratios = fc.array(number, { minLength: 6, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(ratios, fc.constantFrom(1, 0.7, 0), async (xs, strength) => {
      const objective = selfImproving({ beta: 0.7, improver: 0.3 });
      const batch = pairBatch(strength);
      // sixteenths, which float32 holds exactly
      const logp = Float32Array.from(xs, (x) => Math.round(x * 16) / 16);
      const { cotangents } = await evaluate(objective, batch, logp);
      for (let a = 0; a < 6; a++) {
        const at = async (d: number) =>
          (
            await evaluate(
              objective,
              batch,
              logp.map((x, i) => (i === a ? x + d : x)),
            )
          ).loss;
        // a quadratic: the symmetric difference is exact at any step
        close(cotangents.logp![a]!, ((await at(1 / 16)) - (await at(-1 / 16))) / (1 / 8), 1e-4);
      }
    }),
    { seed: 4, numRuns: 20 },
  );
});

test("selfImproving: a pair without its revisions is left out and counted", async () => {
  const batch = pairBatch();
  const bare = { ...batch, rows: batch.rows.map((row, r) => ({ ...row, trajectory: `t${r}` })) };
  const { loss, stats, cotangents } = await evaluate(selfImproving(), bare, new Float32Array(6).fill(1));
  assert.deepEqual([loss, stats.pairs, stats.missing], [0, 0, 1]);
  assert.ok(cotangents.logp!.every((x) => x === 0));
});

test("selfImproving: the closed form of the game has no slope, whoever's replies are compared", async () => {
  const prefers = [
    [0.5, 0.9, 0.2],
    [0.1, 0.5, 0.7],
    [0.8, 0.3, 0.5],
  ];
  const beta = 0.4;
  const reference = softmax([0.3, -0.2, 0]);
  // improver(y|d) ∝ ref(y) exp(P(y ≻ d)/β), with normaliser Z(d); generator(y) ∝ ref(y)/Z(y)
  const weights = prefers.map((_, d) => prefers.map((row, y) => reference[y]! * Math.exp(row[d]! / beta)));
  const Z = weights.map((row) => row.reduce((a, b) => a + b, 0));
  const generator = softmax(Z.map((z, y) => Math.log(reference[y]! / z)));
  const A = (y: number, d: number): number => Math.log(weights[d]![y]! / Z[d]! / reference[y]!);
  const B = (y: number): number => Math.log(generator[y]! / reference[y]!);
  for (const [w, l] of [
    [0, 1],
    [1, 2],
    [2, 0],
  ] as const) {
    const logp = Float32Array.of(B(w), B(l), A(w, w), A(w, l), A(l, w), A(l, l));
    const { cotangents } = await evaluate(selfImproving({ beta }), pairBatch(prefers[w]![l]), logp);
    for (const slope of cotangents.logp!) close(slope, 0, 1e-6);
  }
  // and it is not the Nash policy, which plays against itself rather than against an improver
  const nash = regularisedNash(prefers, reference, beta);
  assert.ok(nash.some((p, i) => Math.abs(p - generator[i]!) > 0.01));
});
