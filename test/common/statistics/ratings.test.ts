import assert from "node:assert/strict";
import { test } from "node:test";
import { bradleyTerryRatings, circlesIn } from "../../../src/common/statistics/ratings.ts";

const near = (got: number, expected: number, within: number): void =>
  assert.ok(Math.abs(got - expected) <= within, `${got} is not ${expected}`);

test("ratings: three wins to one are 190.85 points, with the margin of so many games", () => {
  const [a, b] = bradleyTerryRatings([
    [0, 75_000],
    [25_000, 0],
  ]);
  near(a!.elo - b!.elo, 400 * Math.log10(3), 0.05);
  near((a!.elo + b!.elo) / 2, 1500, 1e-9);
  // half of the difference's standard error 1 / √(n p q), in points
  const error = (400 / Math.LN10) * (0.5 / Math.sqrt(100_000 * 0.75 * 0.25));
  near(a!.high - a!.elo, 1.96 * error, 0.01);
  near(a!.elo - a!.low, a!.high - a!.elo, 1e-9);
});

test("ratings: strengths 1, 2 and 4 come back from the wins that they make", () => {
  const strengths = [1, 2, 4];
  const won = strengths.map((a, i) => strengths.map((b, j) => (i === j ? 0 : (1e6 * a) / (a + b))));
  const ratings = bradleyTerryRatings(won);
  near(ratings[1]!.elo - ratings[0]!.elo, 400 * Math.log10(2), 0.01);
  near(ratings[2]!.elo - ratings[1]!.elo, 400 * Math.log10(2), 0.01);
});

test("ratings: who never lost and who never played are in finite bounds, and an even circle is level", () => {
  const [best, worst, idle] = bradleyTerryRatings([
    [0, 10, 0],
    [0, 0, 0],
    [0, 0, 0],
  ]);
  assert.ok(best!.elo > worst!.elo + 300 && best!.elo < worst!.elo + 1500);
  near(idle!.elo, 1500, 1e-6);
  assert.ok(idle!.high - idle!.low > best!.high - best!.low);
  for (const { elo } of bradleyTerryRatings([
    [0, 9, 1],
    [1, 0, 9],
    [9, 1, 0],
  ]))
    near(elo, 1500, 1e-6);
});

test("circlesIn: finds each circle of three once, and none in an order", () => {
  const beats = (pairs: readonly string[]) => (i: number, j: number) => pairs.includes(`${i}${j}`);
  assert.deepEqual(circlesIn(3, beats(["01", "12", "20"])), [[0, 1, 2]]);
  assert.deepEqual(circlesIn(3, beats(["10", "02", "21"])), [[0, 2, 1]]);
  assert.deepEqual(
    circlesIn(4, (i, j) => i < j),
    [],
  );
  assert.equal(circlesIn(5, (i, j) => (j - i + 5) % 5 === 1 || (j - i + 5) % 5 === 2).length, 5);
});
