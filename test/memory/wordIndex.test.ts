import assert from "node:assert/strict";
import { test } from "node:test";
import { wordIndex } from "../../src/memory/wordIndex.ts";

test("BM25 as worked out by hand", () => {
  const index = wordIndex();
  index.set("a", "red red fox");
  index.set("b", "red hen");
  index.set("c", "blue hen");
  // N = 3, mean length 7/3; "red" in 2 texts: ln(1 + 1.5/2.5) = 0.470004
  // a: t = 2, |d| = 3: 2 · 2.2 / (2 + 1.2 (0.25 + 0.75 · 9/7)) = 4.4 / 3.457143 = 1.272727
  // b: t = 1, |d| = 2: 2.2 / (1 + 1.2 (0.25 + 0.75 · 6/7)) = 2.2 / 2.071429 = 1.062069
  const [a, b, ...rest] = index.search("Red?", 5);
  assert.deepEqual([a!.id, b!.id, rest.length], ["a", "b", 0]);
  assert.ok(Math.abs(a!.score - 0.470004 * 1.272727) < 1e-5, `${a!.score}`);
  assert.ok(Math.abs(b!.score - 0.470004 * 1.062069) < 1e-5, `${b!.score}`);
});

test("nothing is found by unknown words or none, and only what is kept", () => {
  const index = wordIndex();
  index.set("a", "red fox");
  index.set("b", "red hen");
  assert.deepEqual(index.search("green", 5), []);
  assert.deepEqual(index.search("", 5), []);
  assert.deepEqual(
    index.search("red", 5, (id) => id === "b").map(({ id }) => id),
    ["b"],
  );
});

test("after many replacements and deletions it finds what one made anew finds", () => {
  const index = wordIndex();
  const texts = new Map<string, string>();
  for (let i = 0; i < 600; i++) {
    const id = `${i % 97}`;
    const text = `word${i % 7} word${i % 11} word${i % 13}`;
    index.set(id, text);
    texts.set(id, text);
    if (i % 5 === 0) {
      assert.equal(index.delete(`${i % 89}`), texts.delete(`${i % 89}`));
    }
  }
  const fresh = wordIndex();
  for (const [id, text] of texts) fresh.set(id, text);
  assert.equal(index.size, fresh.size);
  for (const query of ["word3", "word2 word10", "word12 word6"]) {
    const ids = (some: typeof index): Set<string> => new Set(some.search(query, 1000).map(({ id }) => id));
    assert.deepEqual(ids(index), ids(fresh));
  }
});
