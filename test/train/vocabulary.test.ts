import assert from "node:assert/strict";
import { test } from "node:test";
import { lexiconOf } from "../../src/train/vocabulary.ts";
import { echo } from "./world.ts";

test("a run knows the words of critiques and instructions where its method says any, and no others", () => {
  const environment = echo({ lexicon: () => ["red"], critiqueLexicon: () => ["wrong"] });
  assert.deepEqual(lexiconOf(environment, {}), ["red"]);
  assert.deepEqual(lexiconOf(environment, { says: [] }), ["red", "wrong"]);
  assert.deepEqual(lexiconOf(environment, { says: ["again"] }), ["red", "wrong", "again"]);
});
