import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { equal } from "../../src/common/equal.ts";

test("equality of plain data is that of Node", () => {
  const any = fc.anything({ withTypedArray: true });
  fc.assert(fc.property(any, any, (a, b) => equal(a, b) === isDeepStrictEqual(a, b)));
  fc.assert(fc.property(fc.jsonValue(), (a) => equal(a, structuredClone(a))));
  assert.equal(equal({ a: 1, b: 2 }, { b: 2, a: 1 }), true);
  assert.equal(equal({ a: undefined }, {}), false);
  assert.equal(equal([1, [2]], [1, [3]]), false);
  assert.equal(equal(Int32Array.of(1, 2), Int32Array.of(1, 3)), false);
  assert.equal(equal([], {}), false);
});
