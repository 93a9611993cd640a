import assert from "node:assert/strict";
import { test } from "node:test";
import {
  agreement,
  audit,
  byCorrections,
  correctionsIn,
  ensemble,
  type Judge,
  requestOf,
} from "../../scripts/closed-loop/judges.ts";
import type { Logged } from "../../src/core/served.ts";
import type { Turn } from "../../src/core/types.ts";
import { crossedWords } from "../../src/helper/crossedWords.ts";

const featuresOf = (turn: Turn) => crossedWords(requestOf(turn), turn.action.content);

/** One visit: a request, a reply, and what its user would rather have had, if that was said. */
function visit(i: number, request: string, reply: string, correction?: string): Logged {
  const turn = {
    prompt: [{ role: "user", content: request }],
    action: { role: "assistant", content: reply },
  } as unknown as Turn;
  const signal = { kind: "correction", channel: "correction", about: [{ trajectory: `${i}`, turn: 0 }] };
  return {
    trajectory: { id: `${i}`, turns: [turn] },
    signals: correction === undefined ? [] : [{ ...signal, source: "user", text: correction }],
  } as unknown as Logged;
}

const served = Array.from({ length: 40 }, (_, i) => {
  const reply = ["good", "bad", "worse", "poor"][i % 4]!;
  return visit(i, "ask", reply, reply === "bad" ? "good" : undefined);
});
const corrections = correctionsIn(served, featuresOf);

/** Scores that do not depend on what is served. */
const always = (name: string, of: (word: string) => number): Judge => ({
  name,
  fit: async () => async (replies) =>
    replies.map((x) => Object.keys(x).reduce((sum, word) => sum + of(word), 0)),
});
const right = always("right", (word) => Number(word === "good"));
const wrong = always("wrong", (word) => 5 * Number(word === "bad"));
const silent = always("silent", () => 0);

test("a correction is read with its request and both replies; one that says the same is none", () => {
  assert.equal(corrections.length, 10);
  assert.deepEqual(corrections[0]?.request, "ask");
  assert.deepEqual(corrections[0]?.wanted, crossedWords("ask", "good"));
  assert.deepEqual(correctionsIn([visit(1, "ask", "good", "good")], featuresOf), []);
});

test("the reward model ranks a correction above every reply to its request, also those nobody corrected", async () => {
  const score = await byCorrections(featuresOf).fit(served, corrections);
  const [good, ...others] = await score(["good", "bad", "worse", "poor"].map((w) => crossedWords("ask", w)));
  assert.ok(others.every((x) => good! > x));
});

test("an audit counts a tie as half, and fits without what it asks about", async () => {
  assert.deepEqual(await audit(right, served, corrections), { right: 10, of: 10 });
  assert.deepEqual(await audit(wrong, served, corrections), { right: 0, of: 10 });
  assert.deepEqual(await audit(silent, served, corrections), { right: 5, of: 10 });
  const seen: [number, number][] = [];
  const watching: Judge = {
    name: "watching",
    fit: async (all, some) => {
      seen.push([all.length, some.length]);
      return async (replies) => replies.map(() => 0);
    },
  };
  await audit(watching, served, corrections);
  assert.deepEqual(seen, Array(5).fill([38, 8]));
});

test("with an audit a wrong judge does not count, however loud; without one it does", async () => {
  const judges = [right, wrong, always("louder", (word) => 100 * Number(word === "bad"))];
  const audited = await ensemble(judges, served, corrections, audit);
  assert.deepEqual(await agreement(audited, corrections), { right: 10, of: 10 });
  const plain = await ensemble(judges, served, corrections);
  assert.deepEqual(await agreement(plain, corrections), { right: 0, of: 10 });
});
