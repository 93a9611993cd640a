import assert from "node:assert/strict";
import { test } from "node:test";
import { discriminating, helpful } from "./verdict.ts";

test("the rewards of both stages, by hand", () => {
  const seen = (verdict: boolean | undefined, right: boolean, refined: number) => ({
    verdict,
    right,
    refined,
  });
  assert.deepEqual(
    [seen(true, true, 1), seen(false, true, 1), seen(undefined, false, 0)].map(discriminating),
    [1, -1, -1],
  );
  const cases = [
    seen(true, true, 1),
    seen(false, false, 1),
    seen(false, false, 0),
    // right after a false verdict all the same, as indirect rewards would pay
    seen(false, true, 1),
    seen(undefined, true, 1),
  ];
  assert.deepEqual(cases.map(helpful(0.2)), [1.2, 1.2, 0.2, -1, -1]);
});
