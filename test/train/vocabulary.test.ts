import assert from "node:assert/strict";
import { test } from "node:test";
import { vocabularyOf } from "../../src/train/vocabulary.ts";
import { echo } from "./world.ts";

test("a run knows the words of critiques and instructions where its method says any, and no others", () => {
  const environment = echo({ vocabulary: () => ["red"], critiqueVocabulary: () => ["wrong"] });
  assert.deepEqual(vocabularyOf(environment, {}), ["red"]);
  assert.deepEqual(vocabularyOf(environment, { says: [] }), ["red", "wrong"]);
  assert.deepEqual(vocabularyOf(environment, { says: ["again"] }), ["red", "wrong", "again"]);
});
