import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrajectoryPair } from "../../src/common/tokens/pairs.ts";
import { type Attempt, scorer } from "../../src/core/evaluator.ts";
import type { Message, Task, Trajectory } from "../../src/core/types.ts";
import {
  accuracy,
  byLabel,
  byLength,
  inWords,
  labelPairs,
  lengthOf,
  lengthSlope,
  pairLabel,
  statedLabel,
} from "../../src/diagnose/pairLabels.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const task: Task = { id: "task", prompt: [{ role: "user", content: "do it" }], metadata: {}, seed: 1 };

/** A trajectory of one turn for each word, each answered by "ok". */
function saying(id: string, words: readonly string[]): Trajectory {
  const conversation: Message[] = [...task.prompt];
  const turns = words.map((content) => {
    const prompt = [...conversation];
    const action = { role: "assistant", content } as const;
    conversation.push(action, { role: "user", content: "ok" });
    return turnOf([1], [2], { prompt, action });
  });
  return trajectoryOf(id, turns);
}
const pairOf = (id: string, chosen: string, rejected: string, family = "a"): TrajectoryPair => ({
  id,
  task,
  chosen: saying(`${id}+`, chosen.split(" ")),
  rejected: saying(`${id}-`, rejected.split(" ")),
  labels: { family },
});

test("lengthOf: words of actions and answers, without the task and what came after the end", () => {
  // "a", ok, "b", ok, "c"
  assert.equal(lengthOf(saying("t", ["a", "b", "c"])), 5);
  assert.equal(lengthOf(saying("t", [])), 0);
});

test("statedLabel: one label among the words, or none", () => {
  assert.equal(statedLabel("The FIRST is better."), 1);
  assert.equal(statedLabel("second"), 0);
  assert.equal(statedLabel("a tie"), 0.5);
  assert.equal(statedLabel("first or second"), undefined);
  assert.equal(statedLabel("neither"), undefined);
  assert.equal(statedLabel("secondly"), undefined);
});

test("pairLabel: right, wrong, tied and torn between the orders", () => {
  const pair = pairOf("p", "a b", "a");
  const of = (forward: number, backward: number) => {
    const { pair: _, ...rest } = pairLabel(pair, forward, backward)!;
    return rest;
  };
  // forward: the chosen one stands first; backward: it stands second. The chosen one is the longer one
  assert.deepEqual(of(0.9, 0.2), { correct: 1, consistent: true, firstChosen: 0.5, longerChosen: 1 });
  assert.deepEqual(of(0.1, 0.8), { correct: 0, consistent: true, firstChosen: 0.5, longerChosen: 0 });
  assert.deepEqual(of(1, 1), { correct: 0.5, consistent: false, firstChosen: 1, longerChosen: 0.5 });
  assert.deepEqual(of(0, 0), { correct: 0.5, consistent: false, firstChosen: 0, longerChosen: 0.5 });
  assert.deepEqual(of(0.5, 0.5), { correct: 0.5, consistent: true, firstChosen: 0.5, longerChosen: 0.5 });
  assert.equal(pairLabel(pair, 1, undefined), undefined);
  assert.equal(pairLabel(pairOf("p", "a", "b"), 1, 0)!.longerChosen, undefined);
});

test("labelPairs: scores, words and failures under one protocol", async () => {
  const pairs = [
    pairOf("p", "good", "bad"),
    pairOf("q", "good good", "bad", "b"),
    pairOf("r", "none", "bad"),
  ];
  const goods = (t: Trajectory): number => t.turns.filter((turn) => turn.action.content === "good").length;
  const scalar = await labelPairs(
    pairs,
    scorer<Attempt>("goods", async ({ trajectory }) => goods(trajectory)),
  );
  // r: 0 against 0 is a tie in both orders
  assert.deepEqual(
    scalar.labels.map((v) => v.correct),
    [1, 1, 0.5],
  );
  assert.equal(accuracy(scalar.labels), 2.5 / 3);
  assert.deepEqual(
    [...byLabel(scalar.labels, "family")].map(([k, v]) => [k, v.length]),
    [
      ["a", 2],
      ["b", 1],
    ],
  );
  const lazy = await labelPairs(
    pairs,
    inWords("lazy", async () => "first"),
  );
  assert.deepEqual(
    lazy.labels.map((v) => [v.correct, v.firstChosen, v.consistent]),
    Array(3).fill([0.5, 1, false]),
  );
  const mute = scorer<Attempt>("mute", async ({ trajectory }) => (goods(trajectory) === 2 ? undefined : 1));
  assert.deepEqual((await labelPairs(pairs, mute)).failed, 1);
  assert.equal(
    (
      await labelPairs(
        pairs,
        scorer<Attempt>("broken", async () => Number.NaN),
      )
    ).failed,
    3,
  );
});

test("byLength and lengthSlope: accuracy that falls with length, worked by hand", () => {
  const long = (n: number): string => Array(n).fill("a").join(" ");
  // lengths 2n − 1 = 1, 3, 9 as n = 1, 2, 5; correct 1, ½, 0
  const labels = [
    pairLabel(pairOf("s", long(5), long(5)), 0, 1)!,
    pairLabel(pairOf("m", long(2), long(2)), 1, 1)!,
    pairLabel(pairOf("l", long(1), long(1)), 1, 0)!,
  ];
  assert.deepEqual(
    byLength(labels, 3).map((part) => part.map((v) => v.pair.id)),
    [["l"], ["m"], ["s"]],
  );
  // ln lengths 0, ln 3, 2 ln 3: a line from 1 to 0 over 2 ln 3, without residue
  const { mean, low, high } = lengthSlope(labels);
  for (const x of [mean, low, high]) assert.ok(Math.abs(x + 1 / (2 * Math.log(3))) < 1e-6);
  assert.ok(Number.isNaN(lengthSlope(labels.slice(0, 1)).mean));
});
