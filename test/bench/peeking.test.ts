import assert from "node:assert/strict";
import { test } from "node:test";
import { equal, peek, unequal } from "../../bench/peeking.ts";

test("equal versions are decided about wrongly in at most 5 % of all tests, looked at after every unit", () => {
  for (const scenario of equal) {
    const { promoted, rolledBack } = peek({ ...scenario, units: Math.min(300, scenario.units) }, 60, 3);
    // of 60 tests: 5 % and two standard errors of 0.028
    assert.ok(promoted + rolledBack <= 0.107, `${scenario.name}: ${promoted} and ${rolledBack}`);
  }
});

test("versions that differ are told apart, and on the right side", () => {
  for (const scenario of [unequal[0]!, unequal[5]!]) {
    const { promoted, rolledBack } = peek(scenario, 10, 3);
    const harmful = scenario.options !== undefined;
    assert.deepEqual([promoted, rolledBack], harmful ? [0, 1] : [1, 0], scenario.name);
  }
});
