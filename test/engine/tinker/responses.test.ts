/** Responses through noise: the scatter of readings, what is believed of a measured number, and how many steps it takes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../src/core/random.ts";
import { nearer, responses, scatterOf } from "../../../src/engine/tinker/responses.ts";

test("scatter: that of the readings' difference, whatever the drift; 0 for too few", () => {
  const random = randomStream(1);
  // readings err uniformly by up to 0.05: sd 0.1 / √12 each, √2 times that in a difference
  const readings = Array.from(
    { length: 20_001 },
    (_, i) => i * 0.3 + i * i * 1e-5 + 0.1 * (random.next() - 0.5),
  );
  const rises = readings.slice(1).map((x, i) => x - readings[i]!);
  const expected = Math.SQRT2 * (0.1 / Math.sqrt(12));
  assert.ok(Math.abs(scatterOf(rises) / expected - 1) < 0.03, `${scatterOf(rises)} for ${expected}`);
  assert.equal(scatterOf([1, 2, 3, 4]), 0);
  assert.equal(scatterOf([1, 5]), 0);
});

test("a value is believed within a quarter of the distance and two errors, and not where both would be", () => {
  const of = (value: number, error: number) => nearer({ value, error }, [2, "sum"], [1, "mean"]);
  assert.deepEqual([of(1.8, 0), of(1.2, 0), of(1.5, 0)], ["sum", "mean", undefined]);
  assert.deepEqual([of(1.7, 0.05), of(1.3, 0.05), of(1.5, 0.2)], ["sum", "mean", undefined]);
});

test("exact readings take one step a response, coarse ones up to eight, and a rate that is found either way", async () => {
  for (const coarse of [0, 0.25]) {
    let level = 0;
    let steps = 0;
    const rate = { value: 1 };
    const read = (): number => (coarse === 0 ? level : Math.round(level / coarse) * coarse);
    const taking = (factor: number) => async () => {
      const before = read();
      level += factor * 0.0103 * rate.value;
      steps++;
      return read() - before;
    };
    const response = await responses({ plain: taking(1), rate }, 0.3);
    const began = steps;
    const { value, error } = await response.of(taking(2));
    assert.ok(Math.abs(value - 2) <= 3 * error + 1e-6, `${value} ± ${error}`);
    assert.ok(coarse === 0 ? error < 1e-6 : error < 0.15, `${error}`);
    assert.equal(steps - began <= 2, coarse === 0, `${steps - began}`);
  }
});
