import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf } from "../../../../test/core/make.ts";
import type { Critique, Mark } from "../../../core/critique.ts";
import { randomStream } from "../../../core/random.ts";
import { spotty } from "./spotty.ts";

const t = trajectoryOf("t", []);
const marks = Array.from({ length: 1000 }, (_, i): Mark => ({ turn: 0, from: i, to: i + 1, good: true }));
const said =
  (critique: Critique | undefined): (() => Promise<Critique | undefined>) =>
  async () =>
    critique;

test("spotty gives a share of the marks and turns a share of those, and leaves the words alone", async () => {
  const critic = spotty(said({ text: "well", marks }), { given: 0.3, flipped: 0.1 });
  const once = await critic(ctxOf({}), t, randomStream(1));
  // 300 and 30 expected, with standard deviations of 14.5 and 5.4
  assert.ok(Math.abs(once!.marks!.length - 300) < 60, `${once!.marks!.length}`);
  const turned = once!.marks!.filter((mark) => !mark.good).length;
  assert.ok(turned > 10 && turned < 55, `${turned}`);
  assert.equal(once!.text, "well");
  assert.deepEqual(await critic(ctxOf({}), t, randomStream(1)), once);
});

test("spotty: without marks, or without a critique, nothing changes", async () => {
  const ctx = ctxOf({});
  assert.deepEqual(await spotty(said({ text: "well" }))(ctx, t, randomStream(1)), { text: "well" });
  assert.equal(await spotty(said(undefined))(ctx, t, randomStream(1)), undefined);
  const all = await spotty(said({ text: "well", marks }))(ctx, t, randomStream(1));
  assert.deepEqual(all!.marks, marks);
});
