import assert from "node:assert/strict";
import { test } from "node:test";
import { critiquing, trajectoryOf } from "../../../../test/core/make.ts";
import type { Critique, Mark } from "../../../core/critique.ts";
import type { Attempt } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import { spotty } from "./spotty.ts";

const call = { random: randomStream(1) };
const marks = Array.from({ length: 1000 }, (_, i): Mark => ({ turn: 0, from: i, to: i + 1, good: true }));
const attempt: Attempt = {
  task: { id: "task", prompt: [], metadata: {}, seed: 1 },
  trajectory: trajectoryOf("t", []),
};
const said = (critique: Critique | undefined) => critiquing(() => critique);

test("spotty gives a share of the marks and turns a share of those, and leaves the words alone", async () => {
  const critiquer = spotty(said({ text: "well", marks }), { given: 0.3, flipped: 0.1 });
  const once = await critiquer.critique(attempt, call);
  // 300 and 30 expected, with standard deviations of 14.5 and 5.4
  assert.ok(Math.abs(once!.marks!.length - 300) < 60, `${once!.marks!.length}`);
  const turned = once!.marks!.filter((mark) => !mark.good).length;
  assert.ok(turned > 10 && turned < 55, `${turned}`);
  assert.equal(once!.text, "well");
  assert.deepEqual(await critiquer.critique(attempt, call), once);
});

test("spotty: without marks, or without a critique, nothing changes", async () => {
  assert.deepEqual(await spotty(said({ text: "well" })).critique(attempt, call), { text: "well" });
  assert.equal(await spotty(said(undefined)).critique(attempt, call), undefined);
  const all = await spotty(said({ text: "well", marks })).critique(attempt, call);
  assert.deepEqual(all!.marks, marks);
});
