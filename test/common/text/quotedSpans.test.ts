import assert from "node:assert/strict";
import { test } from "node:test";
import { attributesOf, markedSpan, quoteIn } from "../../../src/common/text/quotedSpans.ts";
import { vocabularyCodec } from "../../../src/engine/tabular/codec.ts";
import { turnOf } from "../../core/make.ts";

test("quoteIn: the first occurrence word for word, whatever the case", () => {
  assert.deepEqual(quoteIn("go north then go north", "go north"), [0, 8]);
  assert.deepEqual(quoteIn("so Go North", " go north "), [3, 11]);
  assert.deepEqual(quoteIn("w10 w1 w1", "w1"), [4, 6], "as a word before a part of one");
  assert.deepEqual(quoteIn("w10", "w1"), [0, 2]);
  assert.deepEqual(quoteIn("cat\nat\tlast", "at"), [4, 6], "lines end words");
  assert.deepEqual(quoteIn("go\nnorth", "go north"), [0, 8]);
  assert.equal(quoteIn("go north", "  "), undefined);
});

test("quoteIn: else the words most alike, by hand; else nowhere", () => {
  // "norht" and "north" share "nor" and "t" (or "h"): 2 · 4 / 10 = 0.8; "then" and "norht" share one or two letters
  assert.deepEqual(quoteIn("then north", "norht"), [5, 10]);
  assert.deepEqual(quoteIn("then north", "norht", 0.8), [5, 10]);
  assert.equal(quoteIn("then north", "norht", 0.81), undefined);
  assert.equal(quoteIn("then north", "xyz"), undefined);
  // three words are looked for in parts of three words, and a text of two has none
  assert.equal(quoteIn("then north", "then north agian"), undefined);
  assert.deepEqual(quoteIn("a then north again b", "then north agian"), [2, 18]);
});

test("quoteIn: a long misquote of a long text is found without comparing all of it", () => {
  const words = Array.from({ length: 3000 }, (_, i) => `word${(i * 7) % 3001}`);
  const quote = words.slice(2000, 2100).with(50, "wrod").join(" ");
  const from = words.slice(0, 2000).join(" ").length + 1;
  const began = process.cpuUsage().user;
  assert.deepEqual(quoteIn(words.join(" "), quote), [from, from + words.slice(2000, 2100).join(" ").length]);
  // in microseconds; comparing with every part takes half a minute
  assert.ok(process.cpuUsage().user - began < 3e6);
});

test("quoteIn: letters that grow when they are made small are compared as they stand", () => {
  // İ in lower case is two characters
  assert.deepEqual(quoteIn("İ go", "go"), [2, 4]);
});

test("attributesOf: a turn that has it word for word before one that has it nearly; overlaps and strangers are dropped", () => {
  const turns = ["go noth", "go north"].map((content) =>
    turnOf([1], [2], { action: { role: "assistant", content } }),
  );
  assert.deepEqual(
    attributesOf(turns, [
      { text: "go north", good: true },
      { text: "north", good: false },
      { text: "quite another text", good: false },
      { text: "go north", good: false, turn: 0 },
      { text: "go", good: true, turn: 7 },
    ]),
    [
      { turn: 1, from: 0, to: 8, good: true },
      { turn: 0, from: 0, to: 7, good: false },
    ],
  );
});

test("markedSpan: the tokens that the characters lie in, without blanks around them", () => {
  const codec = vocabularyCodec(["go north now"]);
  const action = codec.encode("go north now");
  const turn = turnOf([1], [...action, codec.endId], {
    action: { role: "assistant", content: "go north now" },
  });
  const span = (from: number, to: number) => markedSpan(turn, codec, { turn: 0, from, to, good: true });
  assert.deepEqual(span(0, 2), [0, 1]);
  assert.deepEqual(span(2, 9), [1, 2], "blanks on both sides");
  assert.deepEqual(span(4, 10), [1, 3], "parts of words");
  assert.deepEqual(span(0, 12), [0, 3], "not the end token");
  assert.equal(span(2, 3), undefined, "a blank alone");
  assert.equal(span(12, 30), undefined, "behind the text");
  const other = { ...turn, action: { role: "assistant", content: "go north soon" } } as const;
  assert.equal(markedSpan(other, codec, { turn: 0, from: 0, to: 2, good: true }), undefined);
});
