import assert from "node:assert/strict";
import { test } from "node:test";
import { orderedId } from "../../src/serve/orderedId.ts";

test("ids sort by their times, to the millisecond, and differ at one time", () => {
  // 1,760,000,000,000 = 0x199c82cc000
  assert.match(orderedId(1_760_000_000_000.9), /^0199c82cc000[0-9a-f]{20}$/);
  const times = [1, 15, 16, 1_760_000_000_000, 1_760_000_000_001, 2 ** 47];
  const ids = times.map(orderedId);
  assert.deepEqual(ids.toSorted(), ids);
  const same = Array.from({ length: 1000 }, () => orderedId(1_760_000_000_000));
  assert.equal(new Set(same).size, 1000);
});
