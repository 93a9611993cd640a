import assert from "node:assert/strict";
import { test } from "node:test";
import { fromExamples } from "../../../train/fromExamples.ts";
import { scoreSelfCorrect } from "./method.ts";

test("a method that changes how it plays on the way cannot learn from lessons", () => {
  assert.throws(() => fromExamples(scoreSelfCorrect.build(), []), { code: "config.invalid" });
});
