import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { cosine, goalContrast } from "./goalContrast.ts";
import {
  addRewardSlope,
  addStateGradient,
  initialRecurrent,
  recurrentLength,
  rewardAt,
  statesOf,
} from "./recurrent.ts";

const near = (got: number, want: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - want) < within, `${got}, not ${want}`);

test("states and reward by hand; no state depends on what comes later", () => {
  const sizes = { inputs: 2, units: 1 };
  // W = 0.5, −1; U = 2; b = 0.1; w = 3
  const theta = Float64Array.of(0.5, -1, 2, 0.1, 3);
  assert.equal(recurrentLength(sizes), 5);
  const states = statesOf(theta, sizes, [0, 1]);
  near(states[0]![0]!, Math.tanh(0.6));
  near(states[1]![0]!, Math.tanh(-1 + 2 * Math.tanh(0.6) + 0.1));
  near(rewardAt(theta, sizes, states[1]!), 3 * states[1]![0]!);
  assert.deepEqual(statesOf(theta, sizes, [0, 0])[0], states[0]);
});

test("the contrast by hand", () => {
  const [u, v] = [Float64Array.of(2, 0), Float64Array.of(0, 3)];
  near(cosine(u, u), 1);
  near(cosine(u, v), 0);
  // f = 2 to itself, −2 to its opposite, at T = ½
  near(
    goalContrast(
      u,
      u,
      u.map((x) => -x),
      0.5,
    ).loss,
    2 * Math.log1p(Math.exp(-2)),
  );
  near(goalContrast(u, v, v, 0.5).loss, 2 * Math.log(2));
  assert.equal(cosine(u, new Float64Array(2)), 0);
});

test("gradients are those of finite differences, through time, for reward and contrast together", () => {
  const sizes = { inputs: 3, units: 4 };
  const theta = initialRecurrent(sizes, randomStream(2));
  const [good, bad] = [
    [0, 1, 2, 1],
    [0, 2, 2],
  ];
  const loss = (at: Float64Array): number => {
    const [h, g] = [statesOf(at, sizes, good), statesOf(at, sizes, bad)];
    return 2 * rewardAt(at, sizes, h[3]!) + goalContrast(h[1]!, h[2]!, g[1]!, 0.3).loss;
  };
  const [h, g] = [statesOf(theta, sizes, good), statesOf(theta, sizes, bad)];
  const [toGood, toBad] = [h, g].map((states) => states.map(() => new Float64Array(sizes.units)));
  const gradient = new Float64Array(theta.length);
  addRewardSlope(theta, sizes, h[3]!, 2, gradient, toGood![3]!);
  const slopes = goalContrast(h[1]!, h[2]!, g[1]!, 0.3);
  slopes.byState.forEach((x, k) => void (toGood![1]![k]! += x));
  slopes.byFuture.forEach((x, k) => void (toGood![2]![k]! += x));
  slopes.byOther.forEach((x, k) => void (toBad![1]![k]! += x));
  addStateGradient(theta, sizes, good, h, toGood!, gradient);
  addStateGradient(theta, sizes, bad, g, toBad!, gradient);
  for (let i = 0; i < theta.length; i++) {
    const at = (by: number): number => loss(theta.with(i, theta[i]! + by));
    near(gradient[i]!, (at(1e-5) - at(-1e-5)) / 2e-5, 1e-7);
  }
});
