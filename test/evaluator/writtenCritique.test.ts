import assert from "node:assert/strict";
import { test } from "node:test";
import { readCritique } from "../../src/evaluator/writtenCritique.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const turns = ["go north", "go south"].map((content) =>
  turnOf([1], [2], { action: { role: "assistant", content } }),
);
const t = trajectoryOf("t", turns);

test("a critique in full: outcome, turn from 1, quotes as marks, advice as what is said", () => {
  const text = [
    "Outcome: failure",
    "turn : 2",
    'good: "go north"',
    "poor: south",
    "poor: nowhere to be found",
    "advice: go east instead",
  ].join("\n");
  assert.deepEqual(readCritique(text, t), {
    text: "go east instead",
    outcome: "failure",
    turn: 1,
    marks: [
      { turn: 0, from: 0, to: 8, good: true },
      { turn: 1, from: 3, to: 8, good: false },
    ],
  });
});

test("a outcome alone is enough; without advice all of it is said", () => {
  assert.deepEqual(readCritique(" outcome: inefficient \n\n", t), {
    text: "outcome: inefficient",
    outcome: "inefficient",
  });
});

test("whatever is not of the form is no critique", () => {
  const bad = [
    "",
    "it went well",
    "turn: 1",
    "outcome: great",
    "outcome: success\noutcome: failure",
    "outcome: failure\nturn: 0",
    "outcome: failure\nturn: 3",
    "outcome: failure\nturn: last",
    "outcome: failure\nturn: 1\nturn: 2",
    "outcome: failure\nadvice: a\nadvice: b",
    "outcome: failure\nadvice:",
    "outcome: failure\nand so on",
  ];
  for (const text of bad) assert.equal(readCritique(text, t), undefined, text);
});
