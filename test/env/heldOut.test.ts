import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomStream } from "../../src/core/random.ts";
import { heldOutSplits, itemsOf } from "../../src/env/heldOut.ts";

test("itemsOf: every item is in exactly one split, seven, one and two tenths of them", () => {
  fc.assert(
    fc.property(fc.nat({ max: 200 }), fc.nat(), (count, seed) => {
      const items = [...Array(count).keys()];
      const parts = heldOutSplits.map((split) => itemsOf(items, split, randomStream(seed)));
      assert.deepEqual(
        parts.flat().sort((a, b) => a - b),
        items,
      );
    }),
    { seed: 1 },
  );
  const sizes = heldOutSplits.map((split) => itemsOf([...Array(30).keys()], split, randomStream(1)).length);
  assert.deepEqual(sizes, [21, 3, 6]);
});

test("itemsOf: no other name is a split", () => {
  for (const name of ["", "no such split", "constructor", "__proto__"])
    assert.deepEqual(itemsOf([1, 2, 3], name, randomStream(1)), []);
});
