import assert from "node:assert/strict";
import { test } from "node:test";
import {
  mean,
  meanInterval,
  probabilityOfImprovement,
  wilsonInterval,
} from "../../src/common/statistics/statistics.ts";
import { randomStream } from "../../src/core/random.ts";
import {
  accuracy,
  areaInterval,
  areaUnderCurve,
  clusteredShare,
  cohensKappa,
  jackknifeInterval,
  kappaInterval,
} from "../../src/evaluator/agreement.ts";

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual}, expected ${expected}`);
const times = (n: number, choice: string): string[] => new Array<string>(n).fill(choice);

test("cohensKappa of 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no is (0.7 − 0.5) / (1 − 0.5)", () => {
  const first = [...times(25, "yes"), ...times(25, "no")];
  const second = [...times(20, "yes"), ...times(5, "no"), ...times(10, "yes"), ...times(15, "no")];
  near(accuracy(first, second), 0.7);
  // expected: 0.5 · 0.6 + 0.5 · 0.4
  near(cohensKappa(first, second), 0.4);
  near(cohensKappa(first, first), 1);
  assert.ok(Number.isNaN(cohensKappa(times(3, "a"), times(3, "a"))));
});

test("areaUnderCurve counts pairs: 3 of the 4 positives beat their negatives, a tie is half", () => {
  near(areaUnderCurve([0.1, 0.4, 0.35, 0.8], [false, false, true, true]), 0.75);
  near(areaUnderCurve([0.5, 0.5], [false, true]), 0.5);
  assert.ok(Number.isNaN(areaUnderCurve([0.5, 0.7], [true, true])));
});

test("areaUnderCurve is the probability that a positive beats a negative, pair by pair", () => {
  const random = randomStream(1);
  const scores = Array.from({ length: 200 }, () => random.below(30));
  const positive = scores.map((score) => random.below(40) < score);
  const of = (is: boolean): number[] => scores.filter((_, i) => positive[i] === is);
  near(areaUnderCurve(scores, positive), probabilityOfImprovement(of(true), of(false)));
});

test("jackknifeInterval of a mean is Student's; whole clusters are left out; the range bounds it", () => {
  const xs = [3, 1, 4, 1, 5, 9, 2, 6];
  const student = meanInterval(xs);
  const own = jackknifeInterval(
    xs.map((x, i) => ({ x, i: String(i) })),
    ({ i }) => i,
    (all) => mean(all.map(({ x }) => x)),
  );
  near(own.low, student.low);
  near(own.high, student.high);
  const twice = [...xs, ...xs].map((x, i) => ({ x, i: String(i % 8) }));
  near(
    jackknifeInterval(
      twice,
      ({ i }) => i,
      (all) => mean(all.map(({ x }) => x)),
    ).low,
    student.low,
  );
  const bounded = jackknifeInterval(
    twice,
    ({ i }) => i,
    (all) => mean(all.map(({ x }) => x)),
    [3, 5],
  );
  assert.deepEqual([bounded.low, bounded.high], [3, 5]);
});

test("jackknifeInterval knows no error of a statistic that is undefined without one cluster: the whole range", () => {
  const items = [true, false, false];
  const share = (all: readonly boolean[]): number => (all.some(Boolean) ? 0.5 : Number.NaN);
  const { mean, low, high } = jackknifeInterval(items, (item) => String(items.indexOf(item)), share, [0, 1]);
  assert.deepEqual([mean, low, high], [0.5, 0, 1]);
});

test("clusteredShare is Wilson's for independent items, covers 95 % of clustered ones, and has a width at 0 and 1", () => {
  const own = Array.from({ length: 20 }, (_, i) => String(i));
  const some = own.map((_, i) => i % 4 > 0);
  assert.deepEqual(clusteredShare(some, own), wilsonInterval(15, 20));
  // 40 clusters of 5, each of which is right or wrong as a whole three times out of four
  let [covered, byRow] = [0, 0];
  const draws = 400;
  for (let draw = 0; draw < draws; draw++) {
    const random = randomStream(draw);
    const same: boolean[] = [];
    const clusters: string[] = [];
    for (let c = 0; c < 40; c++) {
      const [whole, luck] = [random.next() < 0.75, random.next() < 0.8];
      for (let i = 0; i < 5; i++) {
        same.push(whole ? luck : random.next() < 0.8);
        clusters.push(String(c));
      }
    }
    const isIn = ({ low, high }: { low: number; high: number }): number => Number(low <= 0.8 && 0.8 <= high);
    covered += isIn(clusteredShare(same, clusters));
    byRow += isIn(wilsonInterval(same.filter(Boolean).length, same.length));
  }
  assert.ok(covered / draws >= 0.92, `${covered} of ${draws}`);
  assert.ok(byRow / draws < 0.85, `rows as independent items cover too little: ${byRow} of ${draws}`);
  const twice = [...own, ...own];
  const all = clusteredShare(
    twice.map(() => true),
    twice,
  );
  assert.deepEqual([all.mean, all.low, all.high, all.n], [1, wilsonInterval(20, 20).low, 1, 40]);
});

test("kappaInterval and areaInterval of raters that agree on everything have the width of the share's interval", () => {
  const clusters = Array.from({ length: 20 }, (_, i) => String(i));
  const classes = clusters.map((_, i) => (i % 2 ? "a" : "b"));
  const { low } = wilsonInterval(20, 20);
  const kappa = kappaInterval(classes, classes, clusters);
  assert.ok(kappa.mean === 1 && kappa.high === 1 && Math.abs(kappa.low - (2 * low - 1)) < 1e-9);
  const area = areaInterval(
    clusters.map((_, i) => i % 2),
    classes.map((one) => one === "a"),
    clusters,
  );
  assert.deepEqual([area.mean, area.low, area.high], [1, wilsonInterval(10, 10).low, 1]);
});
