import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, evidenceOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { degeneration, repetition } from "./degeneration.ts";

test("repetition counts runs that occurred before", () => {
  // runs of two words: "a b", "b a", "a b", "b a": two of four are new
  assert.equal(repetition("a b a b a", 2), 0.5);
  assert.equal(repetition("a b c d", 2), 0);
  assert.equal(repetition("a", 2), 0);
  assert.equal(repetition(" ", 1), 0);
  // four times the same word: one run is new
  assert.equal(repetition("a a a a", 1), 0.75);
});

test("degeneration: cut and repeating trajectories pay, others get no signal, nor do failed ones", async () => {
  const saying = (id: string, content: string, more = {}) =>
    trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })], more);
  const trajectories = [
    saying("fine", "one two three four five six"),
    saying("again", "no no no no no no no no"),
    saying("cut", "one", { end: { kind: "truncated", limit: "tokens", at: 9 } }),
    saying("failed", "no no no no no no no no", {
      end: { kind: "failed", boundary: "environment", message: "down" },
    }),
  ];
  const signals = await degeneration({ penalty: 2 })(ctxOf({}), { ...evidenceOf([]), trajectories }, {});
  assert.deepEqual(
    signals.map((s) => [s.about[0]!.trajectory, "value" in s && s.value]),
    [
      ["again", -2],
      ["cut", -2],
    ],
  );
});
