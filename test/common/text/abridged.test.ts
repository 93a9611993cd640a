import assert from "node:assert/strict";
import { test } from "node:test";
import { abridged } from "../../../src/common/text/abridged.ts";

test("abridged: what fits stays as it is, of what does not the beginning and the end", () => {
  assert.equal(abridged("abcdef", 6), "abcdef");
  assert.equal(abridged("abcdefg", 3), "ab\n[4 characters left out]\ng");
  assert.equal(abridged("abcdefg", 0), "\n[7 characters left out]\n");
});
