import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { combination, prizeOf } from "./combination.ts";

obeysTheLaws(() => combination(), { garbage: 0.05 });

test("combination: the right moves pay 1, the sure one 0.3 whatever follows, a right second one alone 0.1", () => {
  for (const task of combination().tasks("train")) {
    const { right, sure } = task.metadata.game as { right: string[]; sure: string };
    const [first, second, third] = right as [string, string, string];
    const wrong = (move: string): string => (move === "m0" ? "m1" : "m0");
    assert.equal(prizeOf(task, [first, second, third]), 1);
    assert.equal(prizeOf(task, [first, second, wrong(third)]), 0.1);
    assert.equal(prizeOf(task, [first, wrong(second), third]), 0);
    assert.equal(prizeOf(task, [sure, second, third]), 0.3);
    for (const other of ["m0", "m1", "m2", "m3", "m4"]) {
      if (other === first || other === sure) continue;
      const paid = prizeOf(task, [other, second, third]);
      assert.ok(paid >= 0.1 && paid < 0.3);
    }
  }
});
