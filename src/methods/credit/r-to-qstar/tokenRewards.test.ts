import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import {
  beamSearch,
  correlation,
  impliedCredits,
  innerNodes,
  shapedRewards,
  softOptimal,
  sumAlong,
  type TokenTree,
  visits,
} from "./tokenRewards.ts";

function randomTree(seed: number, width = 3, depth = 4): TokenTree {
  const random = randomStream(seed);
  const size = innerNodes({ width, depth }) * width;
  const reward_NW = Float64Array.from({ length: size }, () => random.normal());
  const reference_NW = new Float64Array(size);
  for (let n = 0; n < size / width; n++) {
    const ps = Array.from({ length: width }, () => 0.1 + random.next());
    const total = ps.reduce((a, b) => a + b, 0);
    ps.forEach((p, a) => {
      reference_NW[n * width + a] = Math.log(p / total);
    });
  }
  return { width, depth, reward_NW, reference_NW };
}

function sequences({ width, depth }: TokenTree): number[][] {
  const grow = (before: number[]): number[][] =>
    before.length === depth ? [before] : Array.from({ length: width }, (_, a) => grow([...before, a])).flat();
  return grow([]);
}

const close = (got: number, want: number, tolerance = 1e-12): void =>
  assert.ok(Math.abs(got - want) <= tolerance, `${got}, expected ${want}`);

test("softOptimal is worked by hand: one token, then two", () => {
  // one of two tokens, equally likely, rewards ln 3 and 0, β = 1: weights ½ · 3 and ½, V = ln 2, π = ¾, ¼
  const one: TokenTree = {
    width: 2,
    depth: 1,
    reward_NW: Float64Array.of(Math.log(3), 0),
    reference_NW: Float64Array.of(Math.log(0.5), Math.log(0.5)),
  };
  const { logp_NW, value_N } = softOptimal(one, 1);
  close(value_N[0]!, Math.log(2));
  close(Math.exp(logp_NW[0]!), 0.75);
  // the same after a first token without reward that does not matter: V is ln 2 there as well, and at the root
  const two: TokenTree = {
    width: 2,
    depth: 2,
    reward_NW: Float64Array.of(0, 0, Math.log(3), 0, Math.log(3), 0),
    reference_NW: new Float64Array(6).fill(Math.log(0.5)),
  };
  for (const v of softOptimal(two, 1).value_N) close(v, Math.log(2));
  close(Math.exp(softOptimal(two, 1).logp_NW[0]!), 0.5);
});

test("an optimal policy's credits are the shaped rewards, and sum to the reward less the first value", () => {
  for (const seed of [1, 2, 3]) {
    const tree = randomTree(seed);
    for (const beta of [0.2, 1, 5]) {
      const { logp_NW, value_N } = softOptimal(tree, beta);
      const credit_NW = impliedCredits(logp_NW, tree.reference_NW, beta);
      const shaped_NW = shapedRewards(tree, value_N);
      credit_NW.forEach((c, i) => {
        close(c, shaped_NW[i]!);
      });
      for (const tokens of sequences(tree)) {
        close(sumAlong(tree, credit_NW, tokens), sumAlong(tree, tree.reward_NW, tokens) - value_N[0]!);
      }
      const weight_NW = visits(tree, tree.reference_NW);
      close(correlation(credit_NW, shaped_NW, weight_NW), 1);
      assert.ok(correlation(credit_NW, tree.reward_NW, weight_NW) < 0.999);
    }
  }
});

test("softOptimal is optimal: no other policy has more reward less β · KL, and its own is the first value", () => {
  const tree = randomTree(4);
  const beta = 0.7;
  const worth = (logp_NW: Float64Array): number =>
    sequences(tree).reduce((sum, tokens) => {
      const logp = sumAlong(tree, logp_NW, tokens);
      const gain =
        sumAlong(tree, tree.reward_NW, tokens) - beta * (logp - sumAlong(tree, tree.reference_NW, tokens));
      return sum + Math.exp(logp) * gain;
    }, 0);
  const { logp_NW, value_N } = softOptimal(tree, beta);
  close(worth(logp_NW), value_N[0]!);
  assert.ok(worth(tree.reference_NW) < value_N[0]!);
  assert.ok(worth(softOptimal(tree, 0.6).logp_NW) < value_N[0]!);
  assert.ok(worth(softOptimal(tree, 0.8).logp_NW) < value_N[0]!);
});

test("over what the reference writes, the implied reward is minus a divergence: it can only fall from 0", () => {
  for (const seed of [5, 6, 7]) {
    const tree = randomTree(seed);
    const credit_NW = impliedCredits(softOptimal(tree, 1).logp_NW, tree.reference_NW, 1);
    const weight_NW = visits(tree, tree.reference_NW);
    assert.ok(credit_NW.reduce((sum, c, i) => sum + weight_NW[i]! * c, 0) < 0);
  }
});

test("beamSearch: wide enough it finds the likeliest sequence, which is that of the most reward under the reference", () => {
  const tree = randomTree(8);
  const beta = 0.5;
  const { logp_NW } = softOptimal(tree, beta);
  const best = (of_NW: Float64Array): number[] =>
    sequences(tree).reduce((a, b) => (sumAlong(tree, of_NW, b) > sumAlong(tree, of_NW, a) ? b : a));
  const guided_NW = tree.reward_NW.map((r, i) => r + beta * tree.reference_NW[i]!);
  assert.deepEqual(beamSearch(tree, logp_NW, 81), best(logp_NW));
  assert.deepEqual(best(logp_NW), best(guided_NW));
  const greedy = beamSearch(tree, logp_NW, 1);
  let node = 0;
  for (const a of greedy) {
    const row = logp_NW.subarray(node * 3, node * 3 + 3);
    assert.equal(row[a], Math.max(...row));
    node = node * 3 + 1 + a;
  }
});

test("visits of a position sum to 1; a correlation with a constant is none", () => {
  const tree = randomTree(9);
  const weight_NW = visits(tree, tree.reference_NW);
  close(
    weight_NW.subarray(0, 3).reduce((a, b) => a + b, 0),
    1,
  );
  close(
    weight_NW.subarray(3, 12).reduce((a, b) => a + b, 0),
    1,
  );
  // x 0, 1, 2 with weights 1, 1, 2: means 1.25 and 3.5; y = 2x + 1
  close(correlation([0, 1, 2], [1, 3, 5], [1, 1, 2]), 1);
  close(correlation([0, 1, 2], [5, 3, 1], [1, 1, 2]), -1);
  assert.ok(Number.isNaN(correlation([0, 1], [2, 2], [1, 1])));
});
