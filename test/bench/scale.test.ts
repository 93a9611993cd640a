/** The simulator of cluster runs against what can be worked out by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planOf } from "../../bench/scale/cluster.ts";
import { simulate } from "../../bench/scale/simulate.ts";
import { meanInterval } from "../../src/common/statistics/statistics.ts";

const near = (x: number, y: number, by = 1e-9): void =>
  assert.ok(Math.abs(x - y) <= by * y, `${x} is not ${y}`);

test("equal episodes and a place for each: the longer of learning and of the whole way over N + 1", () => {
  // an iteration's weights are handed over, its episodes played, and learnt from: 1 + 6 + 2 = 9 s, of which N + 1 at a time
  const cluster = { slots: 64, learning: 2, handing: 1 };
  for (const [staleness, seconds] of [
    [0, 9],
    [1, 4.5],
    [2, 3],
    [3, 9 / 4],
    [4, 2],
    [9, 2],
  ] as const) {
    const got = simulate(cluster, { episodes: 8, mean: 6, lengths: "equal", staleness }, 60, 1);
    near(got.iteration, seconds);
    near(got.learning, 2 / seconds);
    near(got.writing, (8 * 6) / (64 * seconds));
  }
});

test("fewer places than episodes: rounds of them, and no more than the places can write", () => {
  // 8 episodes on 4 places are two rounds of 6 s
  const cluster = { slots: 4, learning: 2, handing: 0 };
  const work = { episodes: 8, mean: 6, lengths: "equal" } as const;
  near(simulate(cluster, { ...work, staleness: 0 }, 40, 1).iteration, 14);
  // however far ahead: 8 episodes of 6 s on 4 places are 12 s
  near(simulate(cluster, { ...work, staleness: 5 }, 40, 1).iteration, 12);
});

test("exponential lengths: the longest of B has the mean of 1 + 1/2 + … + 1/B of them", () => {
  // B = 16: 3.380729 times 5 s, then 3 s of learning
  const expected = 5 * 3.380729 + 3;
  const cluster = { slots: 16, learning: 3, handing: 0 };
  const work = { episodes: 16, mean: 5, lengths: "exponential", staleness: 0 } as const;
  const runs = Array.from({ length: 20 }, (_, seed) => simulate(cluster, work, 200, seed).iteration);
  const { low, high } = meanInterval(runs, 0.999);
  assert.ok(low < expected && expected < high, `${expected} lies outside of ${low} to ${high}`);
});

test("log-normal lengths have the mean that is asked for, and equal seeds give equal runs", () => {
  // one place that is never idle: an iteration takes the sum of its episodes
  const cluster = { slots: 1, learning: 0.001, handing: 0 };
  const work = { episodes: 200, mean: 2, lengths: { sigma: 0.8 }, staleness: 3 } as const;
  const runs = Array.from({ length: 10 }, (_, seed) => simulate(cluster, work, 50, seed).iteration);
  const { low, high } = meanInterval(runs, 0.999);
  assert.ok(low < 400 && 400 < high);
  assert.equal(simulate(cluster, work, 50, 3).iteration, runs[3]);
  assert.ok(runs[4] !== runs[3]);
});

test("bytes and seconds of a cluster follow from its model and its work", () => {
  const plan = planOf({ nodes: 100, trainers: 20 });
  // weights of 2 bytes are read once for a token of each sequence: 16 GB at 60 % of 3.35 TB/s are 7.96 ms
  near(plan.tokenSeconds, 16e9 / (0.6 * 3.35e12), 1e-3);
  // 80 nodes of 8 GPUs with 64 sequences each
  assert.equal(plan.cluster.slots, 80 * 8 * 64);
  // rank 32 on 36 layers of width 4096: see the sizes in the page; 4 bytes each
  near(plan.bytes.adapter, 4 * plan.adapterParameters);
  assert.ok(plan.cluster.learning > 0);
});
