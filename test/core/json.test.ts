import assert from "node:assert/strict";
import { test } from "node:test";
import { fromExactJson, listOf, numberOf, objectOf, textOf, toExactJson } from "../../src/core/json.ts";

test("exact JSON gives back every number and typed array bit for bit, on one line", () => {
  const payload = new Float32Array(Uint32Array.of(0x7fc00123).buffer);
  const value = {
    numbers: [0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.1 + 0.2, 5e-324],
    floats: Float32Array.of(-0, Number.NaN, 0.1),
    part: Int32Array.of(1, 2, 3, 4).subarray(1, 3),
    bytes: Uint8Array.of(0, 255),
    none: new Float32Array(0),
    payload,
    text: "two\nlines \u2028",
    rest: [null, true, {}, []],
  };
  const text = toExactJson(value);
  assert.ok(!text.includes("\n"));
  const back = fromExactJson(text);
  assert.deepEqual(back, value);
  assert.equal(toExactJson(back), text);
  assert.throws(() => fromExactJson("{"), SyntaxError);
});

test("exact JSON leaves alone what only looks like its own marks", () => {
  for (const value of [{ $number: 3 }, { $float32: null }, { $number: "1", more: 2 }, { toString: "x" }]) {
    assert.deepEqual(fromExactJson(toExactJson(value)), value);
  }
});

test("what others sent is read by kind: another kind is nothing, and an empty list where a list was looked for", () => {
  assert.deepEqual(objectOf({ a: 1 }), { a: 1 });
  for (const other of [[1], null, "a", 1, undefined]) assert.equal(objectOf(other), undefined);
  assert.deepEqual([listOf([1]), listOf({ 0: 1 }), listOf(undefined)], [[1], [], []]);
  assert.deepEqual([textOf("a"), textOf(1), numberOf(1), numberOf("1")], ["a", undefined, 1, undefined]);
});
