import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bleu, matchingRatio } from "../../../src/common/text/similarity.ts";

test("matchingRatio is worked by hand", () => {
  // "bcd" is the longest run; nothing else matches: 2 · 3 / 8
  assert.equal(matchingRatio("abcd", "bcde"), 0.75);
  // "WIKIM" 5, then "IA" to its right 2: 2 · 7 / 18
  assert.equal(matchingRatio("WIKIMEDIA", "WIKIMANIA"), 14 / 18);
  assert.equal(matchingRatio("", ""), 1);
  assert.equal(matchingRatio("a", ""), 0);
  assert.equal(matchingRatio([1, 2, 3], Int32Array.of(3, 2, 3)), 2 / 3);
});

test("matchingRatio is within [0, 1], 1 for equals, 0 where nothing is shared", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const ratio = matchingRatio(a, b);
      assert.ok(ratio >= 0 && ratio <= 1);
      assert.equal(ratio === 1, a === b);
      assert.equal(matchingRatio(a, b.toUpperCase()), a === "" && b === "" ? 1 : 0);
      // what is between them matches at least as far as they begin alike
      let start = 0;
      while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
      assert.ok(ratio * (a.length + b.length) >= 2 * Math.min(1, start));
    }),
    { seed: 1, numRuns: 200 },
  );
});

const words = (text: string): string[] => text.split(" ");

test("bleu is worked by hand", () => {
  // of "a b c d" words match 3 of 4, pairs "a b" and "b c" 2 of 3; same length: √(3/4 · 2/3)
  assert.ok(Math.abs(bleu(words("a b c d"), words("a b c e")) - Math.sqrt(1 / 2)) < 1e-12);
  // "a a a" against "a b": the word counts once: 1/3, and no pair matches
  assert.equal(bleu(words("a a a"), words("a b"), 1), 1 / 3);
  assert.equal(bleu(words("a a a"), words("a b"), 2), 0);
  // two of four words said: all right, but e^(1 − 4/2) for the length
  assert.ok(Math.abs(bleu(words("a b"), words("a b c d")) - Math.exp(-1)) < 1e-12);
  assert.equal(bleu([], words("a")), 0);
});

test("bleu: a copy shorter than the order scores 1 only with smoothing", () => {
  const copy = words("a b c");
  assert.equal(bleu(copy, copy, 2), 1);
  assert.equal(bleu(copy, copy, 4), 0);
  assert.equal(bleu(copy, copy, 4, 1), 1);
});
