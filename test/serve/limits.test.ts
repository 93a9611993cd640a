import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenBuckets } from "../../src/serve/limits.ts";

test("a bucket holds its burst and refills at its rate", () => {
  const buckets = tokenBuckets({ perSecond: 2, burst: 3 });
  const take = (now: number) => buckets.take("a", now);
  assert.deepEqual([take(0), take(0), take(0)], [0, 0, 0]);
  // empty: the next token is there after 1 / 2 s
  assert.equal(take(0), 0.5);
  assert.equal(take(250), 0.25);
  assert.equal(take(500), 0);
  assert.equal(buckets.take("b", 0), 0);
  // after a long pause no more than the burst; a clock that goes back gives nothing
  assert.deepEqual([take(1e6), take(1e6), take(1e6), take(1e6)], [0, 0, 0, 0.5]);
  assert.equal(take(0), 0.5);
});

test("ten thousand strangers take no more room than the hundred that are remembered", () => {
  const buckets = tokenBuckets({ perSecond: 1, burst: 1 }, 100);
  for (let i = 0; i < 10_000; i++) buckets.take(`address ${i}`, i);
  assert.equal(buckets.size, 100);
  // one that keeps coming is not forgotten for it
  for (let i = 0; i < 1000; i++) {
    buckets.take(`other ${i}`, 10_000);
    if (i > 0) assert.ok(buckets.take("greedy", 10_000) > 0);
    else buckets.take("greedy", 10_000);
  }
});
