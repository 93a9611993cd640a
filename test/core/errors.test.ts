import assert from "node:assert/strict";
import { test } from "node:test";
import { averageStats } from "../../src/common/statistics/stats.ts";
import { unknownName } from "../../src/common/text/suggest.ts";
import { isWhetstoneError, messageOf, present } from "../../src/core/errors.ts";

test("unknownName suggests the nearest name, and none where all are far", () => {
  const near = unknownName("--env", "ticktactoe", ["facts", "tictactoe"]);
  assert.equal(near.code, "name.unknown");
  assert.match(
    near.message,
    /--env: got "ticktactoe", expected one of facts, tictactoe\. Did you mean tictactoe\?/,
  );
  assert.doesNotMatch(unknownName("--env", "zebra", ["facts"]).message, /Did you mean/);
  assert.match(unknownName("--env", "x", []).message, /none is defined here\. Define one first/);
  // a million letters are nobody's slip: compared with thousands of names, they would take minutes
  const many = Array.from({ length: 5000 }, (_, i) => `artefact ${i}`);
  const began = performance.now();
  assert.doesNotMatch(unknownName("--env", "a".repeat(1e6), many).message, /Did you mean/);
  assert.ok(performance.now() - began < 2000);
});

test("errors carry their code and are known across copies", () => {
  assert.throws(
    () => present(undefined, "piece", "number"),
    (e) => isWhetstoneError(e) && e.code === "shape.mismatch",
  );
  assert.ok(!isWhetstoneError(new Error("x")));
  assert.equal(messageOf("plain"), "plain");
});

test("averageStats divides what is named so, and leaves out what was not measured", () => {
  const got = averageStats({ tokens: 4, "clipFraction/tokens": 1, "x/rows": 1 });
  assert.deepEqual(got, { tokens: 4, clipFraction: 0.25 });
});
