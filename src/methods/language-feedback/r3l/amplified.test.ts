import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, near } from "../../../../test/advantage/laws.ts";
import { evidenceOf } from "../../../../test/core/make.ts";
import { amplified } from "./amplified.ts";

test("amplified is worked by hand: successes are 1, better failures three times what they are above the mean", () => {
  // means 1/4, 1/2, 0.3; a lone failure has no mean to be above
  const rewards = [[0, 1, 0, 0], [1, 0], [0.5, 0.1, 0.3], [0.2]];
  near(apply(amplified(), rewards), [[-1 / 4, 1, -1 / 4, -1 / 4], [1, -1 / 2], [0.6, -0.2, 0], [0.6]]);
});

test("amplified: successes alone are pushed, equal failures are not, and silence is nobody's", () => {
  near(apply(amplified(), [[1, 1], [0, 0], [2]]), [[1, 1], [0, 0], [1]]);
  const { advantages } = amplified().apply(evidenceOf([[1, undefined]]), null, undefined);
  assert.deepEqual([...advantages.keys()], ["0.0"]);
});

test("amplified: threshold and factor can be set", () => {
  near(apply(amplified({ threshold: 0.4, factor: 2 }), [[0.5, 0.2, 0.2, 0.3]]), [[1, -0.1, -0.1, 0]]);
});
