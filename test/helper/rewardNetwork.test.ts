import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import {
  adamSteps,
  addScoreGradient,
  initialNetwork,
  networkLength,
  pairLoss,
  scoreInputs,
} from "../../src/helper/rewardNetwork.ts";

const near = (got: number, want: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - want) < within, `${got}, not ${want}`);

test("the reward is worked by hand", () => {
  // two inputs, one unit: W = 0.5, −2; b = 0.1; w = 3
  const theta = Float64Array.of(0.5, -2, 0.1, 3);
  const sizes = { inputs: 2, units: 1 };
  assert.equal(networkLength(sizes), 4);
  near(scoreInputs(theta, sizes, []).reward, 3 * Math.tanh(0.1));
  near(scoreInputs(theta, sizes, [0]).reward, 3 * Math.tanh(0.6));
  near(scoreInputs(theta, sizes, [0, 1]).reward, 3 * Math.tanh(-1.4));
});

test("pairLoss is worked by hand, with doubt and margin", () => {
  const theta = Float64Array.of(0.5, -2, 0.1, 3);
  const sizes = { inputs: 2, units: 1 };
  const by = 3 * Math.tanh(0.6) - 3 * Math.tanh(-1.9) - 0.5;
  const pair = { better: [0], worse: [1], doubt: 0.2, margin: 0.5 };
  const want = 0.8 * Math.log1p(Math.exp(-by)) + 0.2 * Math.log1p(Math.exp(by));
  near(pairLoss(theta, sizes, [pair, pair], new Float64Array(4)), want);
});

test("gradients are those of finite differences, also through the hidden layer", () => {
  const sizes = { inputs: 4, units: 3 };
  const theta = initialNetwork(sizes, randomStream(2));
  const pairs = [
    { better: [0, 2], worse: [1], margin: 0.3 },
    { better: [3], worse: [0, 1, 2], doubt: 0.4 },
  ];
  const weight = [0.3, -1, 2];
  const loss = (at: Float64Array): number => {
    const { hidden } = scoreInputs(at, sizes, [1, 3]);
    const through = weight.reduce((sum, x, h) => sum + x * hidden[h]!, 0);
    return 2 * pairLoss(at, sizes, pairs, new Float64Array(at.length)) + through;
  };
  const gradient = new Float64Array(theta.length);
  pairLoss(theta, sizes, pairs, gradient, 2);
  addScoreGradient(theta, sizes, [1, 3], scoreInputs(theta, sizes, [1, 3]), 0, gradient, weight);
  for (let i = 0; i < theta.length; i++) {
    const at = (by: number): number => loss(theta.with(i, theta[i]! + by));
    near(gradient[i]!, (at(1e-5) - at(-1e-5)) / 2e-5, 1e-8);
  }
});

test("adamSteps fits the log-odds of a comparison", () => {
  const sizes = { inputs: 2, units: 2 };
  const theta = initialNetwork(sizes, randomStream(1));
  const pairs = [{ better: [0], worse: [1], doubt: 0.25 }];
  adamSteps(theta, { steps: 600, learningRate: 0.05 }, (gradient) => {
    pairLoss(theta, sizes, pairs, gradient);
  });
  near(scoreInputs(theta, sizes, [0]).reward - scoreInputs(theta, sizes, [1]).reward, Math.log(3), 1e-3);
});
