import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import {
  layoutOf,
  posteriorOf,
  questionWorth,
  rewardOf,
  sampledTaste,
  type TasteExample,
  tasteLoss,
  type Vote,
} from "./latentTaste.ts";

const near = (got: number, want: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - want) < within, `${got}, not ${want}`);

/** One trait, one unit, one dimension: W = 1, M = 2, V = 0.5, b = −1, w₀ = 0.3, U = 0.7, in the order of the layout. */
const one = { traits: 1, units: 1, latent: 1 };
const small = Float64Array.of(1, 2, 0.5, -1, 0.3, 0.7);

test("posteriorOf and rewardOf are worked by hand", () => {
  assert.equal(layoutOf(one).length, 6);
  const votes: Vote[] = [
    [[2], [1]],
    [[0.5], [1]],
  ];
  const h = (Math.tanh(1) + Math.tanh(-0.5)) / 2;
  const q = posteriorOf(small, one, votes);
  near(q.mean[0]!, 2 * h);
  near(q.logVariance[0]!, 0.5 * h - 1);
  near(sampledTaste(q, [2])[0]!, 2 * h + 2 * Math.exp((0.5 * h - 1) / 2));
  near(rewardOf(small, one, [3], [2]), 3 * (0.3 + 0.7 * 2));
  assert.deepEqual(posteriorOf(small, one, votes.toReversed()), q, "blind to order");
  assert.deepEqual(posteriorOf(small, one, []), {
    mean: Float64Array.of(0),
    logVariance: Float64Array.of(-1),
  });
});

test("tasteLoss is worked by hand without context: the bias alone makes the posterior", () => {
  // z = exp(−½) · 1, margin = 2 (0.3 + 0.7 z); KL = −½ (1 − 1 − 0 − e⁻¹) = e⁻¹ / 2
  const example = { context: [], targets: [[[2], [0]] as const], noise: [1] };
  const margin = 2 * (0.3 + 0.7 * Math.exp(-0.5));
  const loss = tasteLoss(small, one, [example], 0.1, new Float64Array(6));
  near(loss, Math.log1p(Math.exp(-margin)) + (0.1 * Math.exp(-1)) / 2);
});

test("tasteLoss: the gradient is that of finite differences, for every parameter", () => {
  const sizes = { traits: 2, units: 3, latent: 2 };
  const { length } = layoutOf(sizes);
  const random = randomStream(3);
  const thing = (): number[] => [random.normal(), random.normal()];
  const votes = (n: number): Vote[] => Array.from({ length: n }, () => [thing(), thing()] as const);
  const theta = Float64Array.from({ length }, () => 0.7 * random.normal());
  const users = [3, 1, 0].map(
    (n): TasteExample => ({
      context: votes(n),
      targets: votes(2),
      noise: [random.normal(), random.normal()],
    }),
  );
  const gradient = new Float64Array(length);
  tasteLoss(theta, sizes, users, 0.3, gradient);
  const at = (i: number, by: number): number =>
    tasteLoss(theta.with(i, theta[i]! + by), sizes, users, 0.3, new Float64Array(length));
  for (let i = 0; i < length; i++) near(gradient[i]!, (at(i, 1e-5) - at(i, -1e-5)) / 2e-5, 1e-8);
  assert.ok(gradient.every((g) => g !== 0));
});

test("questionWorth: nothing where all tastes agree, ln 2 where the answer tells two of them apart", () => {
  const sizes = { traits: 2, units: 1, latent: 1 };
  const { shared, moved, length } = layoutOf(sizes);
  const theta = new Float64Array(length);
  theta[shared + 1] = 1; // all like the second trait
  theta[moved] = 1; // a taste moves the first
  const tastes = [[-1000], [1000]];
  near(
    questionWorth(
      theta,
      sizes,
      [
        [0, 1],
        [0, 0],
      ],
      tastes,
    ),
    0,
  );
  near(
    questionWorth(
      theta,
      sizes,
      [
        [1, 0],
        [0, 0],
      ],
      tastes,
    ),
    Math.log(2),
  );
  // chances σ(±1): H(½) − H(σ(1)) = 0.6931 − 0.5822
  near(
    questionWorth(
      theta,
      sizes,
      [
        [1, 0],
        [0, 0],
      ],
      [[-1], [1]],
    ),
    0.1109,
    1e-4,
  );
});
