import assert from "node:assert/strict";
import { test } from "node:test";
import { learn, verdict } from "../../../../test/train/examples.ts";
import { preflexor } from "./method.ts";

test("verdicts: a method that mines pairs compares replies to one prompt alone", async () => {
  const elsewhere = verdict("other", "go on", false, "blue");
  const one = [verdict("up", "stop now", true), verdict("down", "go on", false), elsewhere];
  const { before, after, done } = await learn(preflexor, one, "red", ["stop now", "go on"]);
  assert.equal(done.curve[0]!.pairs, 1);
  assert.ok(after[0]! - after[1]! > before[0]! - before[1]! + 1, `${before} ${after}`);
});

test("which lessons suit a method that mines pairs", () => {
  assert.equal(preflexor.build().learnsFrom?.kind, "rating");
});
