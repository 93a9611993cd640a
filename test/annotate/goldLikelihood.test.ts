import assert from "node:assert/strict";
import { test } from "node:test";
import { goldLikelihood } from "../../src/annotate/goldLikelihood.ts";
import type { TokenRows } from "../../src/core/batch.ts";
import { rowCount } from "../../src/core/batch.ts";
import type { Model } from "../../src/core/model.ts";
import type { Task, Trajectory } from "../../src/core/types.ts";
import { vocabularyCodec } from "../../src/engine/tabular/codec.ts";
import { tabularModel } from "../../src/engine/tabular/model.ts";
import { newWeights } from "../../src/engine/tabular/weights.ts";
import { informationGain } from "../../src/feedback/informationGain.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

const codec = vocabularyCodec(["question", "clue", "answer", "lima", "city"]);
const idsOf = (text: string): number[] => [...codec.encode(text)];

/** Knows nothing before the clue; after it, both words of the answer are three times as likely as each other word. */
function model(calls: TokenRows[], contextTokens = 64): Model {
  const prior = (context: readonly string[], word: string): number =>
    context.includes("clue") && (word === "lima" || word === "city") ? Math.log(3) : 0;
  const made = tabularModel("policy", newWeights(codec, Number.POSITIVE_INFINITY, prior), contextTokens);
  return Object.assign(made, {
    score: ((score) => (rows: TokenRows) => {
      calls.push(rows);
      return score(rows);
    })(made.score),
  });
}

const task: Task = { id: "task", prompt: [], reference: "lima city", metadata: {}, seed: 0 };
const asked = idsOf("question");
const searched = [...asked, ...idsOf("city clue")];
const twoTurns = (id: string): Trajectory =>
  trajectoryOf(id, [turnOf(asked, idsOf("city")), turnOf(searched, idsOf("answer lima city"))]);

test("goldLikelihood is the geometric mean of the gold tokens' probabilities, before each turn", async () => {
  const calls: TokenRows[] = [];
  const trajectories = [twoTurns("a"), twoTurns("b"), trajectoryOf("c", [turnOf(asked, idsOf("clue"))])];
  const ctx = ctxOf({ model: () => model(calls), task: () => task });
  const { gold } = await goldLikelihood()(ctx, { trajectories, units: [] });
  // six words may be written: 1/6 each; after the clue 3/10 each, so √(3/10 · 3/10)
  for (const id of ["a", "b"]) {
    assert.ok(Math.abs(gold!.get(id)![0]! - 1 / 6) < 1e-6);
    assert.ok(Math.abs(gold!.get(id)![1]! - 0.3) < 1e-6);
  }
  assert.equal(gold!.get("c")!.length, 1);
  // one call, and the two contexts that five turns have between them
  assert.deepEqual(calls.map(rowCount), [2]);
});

test("an answer that does not fit after a turn is unknown there, and no gain is made of it", async () => {
  // one token asked and three of "answer lima city" make 4, after the search 6
  const calls: TokenRows[] = [];
  const ctx = ctxOf({ model: () => model(calls, 5), task: () => task });
  const experience = { trajectories: [twoTurns("a")], units: [] };
  const notes = await goldLikelihood()(ctx, experience);
  const [before, after] = notes.gold!.get("a")!;
  assert.ok(Math.abs(before! - 1 / 6) < 1e-6);
  assert.ok(Number.isNaN(after));
  assert.deepEqual(await informationGain()(ctx, experience, notes), []);
});

test("goldLikelihood: a failed episode gets no note, a task without a reference is said", async () => {
  const failed = trajectoryOf("a", [turnOf(asked, idsOf("city"))], {
    end: { kind: "failed", boundary: "environment", message: "broken" },
  });
  const ctx = ctxOf({ model: () => model([]), task: () => task });
  const { gold } = await goldLikelihood()(ctx, { trajectories: [failed], units: [] });
  assert.equal(gold!.size, 0);
  const { reference: _, ...bare } = task;
  const without = ctxOf({ model: () => model([]), task: () => bare });
  await assert.rejects(
    goldLikelihood()(without, { trajectories: [twoTurns("a")], units: [] }),
    /task "task" without a reference/,
  );
});

test("informationGain pays the turn that asked, not the one that read; the last turn gets none", async () => {
  const trajectories = [twoTurns("a"), twoTurns("b")];
  const notes = { gold: new Map([["a", Float32Array.of(0.25, 0.75)]]) };
  const signals = await informationGain()(ctxOf({}), { trajectories, units: [] }, notes);
  assert.deepEqual(signals, [
    { kind: "reward", channel: "gain", about: [{ trajectory: "a", turn: 0 }], value: 0.5, source: "policy" },
  ]);
});
