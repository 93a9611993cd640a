import assert from "node:assert/strict";
import { test } from "node:test";
import type { Critique, CritiqueDetail } from "../../src/core/critique.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { type Part, templated, wholeAction } from "../../src/env/critiques.ts";
import type { Environment, Player } from "../../src/env/environment.ts";
import { environments } from "../../src/env/index.ts";
import { answers } from "../../src/worlds/answers.ts";
import { tryAgain } from "../../src/worlds/tryAgain.ts";
import { isSuccess, play, trajectoryOf } from "./play.ts";

const random = randomStream(1);
const details: readonly CritiqueDetail[] = ["outcome", "hint", "answer"];
const step = (turn: number, good: boolean): Part => ({
  ...wholeAction(turn, "go"),
  good,
  name: `step ${turn + 1}`,
  better: "right way",
  worse: ["wrong way"],
});
const failed = { outcome: "failure", parts: [step(0, true), step(1, false), step(2, false)] } as const;
const marks = (...good: readonly boolean[]) => good.map((g, turn) => ({ turn, from: 0, to: 2, good: g }));

test("a true critique says the outcome, the first wrong step, and what would have been right", () => {
  const of = (detail: CritiqueDetail) => templated(failed, { right: true, detail, random });
  assert.deepEqual(of("outcome"), { text: "wrong", outcome: "failure" });
  const more = { outcome: "failure", turn: 1, marks: marks(true, false, false) };
  assert.deepEqual(of("hint"), { text: "wrong at step 2", ...more });
  assert.deepEqual(of("answer"), { text: "wrong at step 2 : right way", ...more });
  const { text } = templated(failed, { right: true, detail: "answer", random }, 5);
  assert.equal(text, "wrong at step 2 : right way , at step 3 : right way");
});

test("a misleading critique turns the outcome, or blames the right step with a wrong remedy", () => {
  const of = (detail: CritiqueDetail) => templated(failed, { right: false, detail, random });
  assert.deepEqual(of("outcome"), { text: "right", outcome: "success" });
  const more = { outcome: "failure", turn: 0, marks: marks(false, true, true) };
  assert.deepEqual(of("hint"), { text: "wrong at step 1", ...more });
  assert.deepEqual(of("answer"), { text: "wrong at step 1 : wrong way", ...more });
});

test("a success is called one, however long; a misleading critique finds something to blame", () => {
  const parts = [step(0, true), step(1, true)];
  const of = (outcome: "success" | "inefficient", right: boolean) =>
    templated({ outcome, parts }, { right, detail: "outcome", random });
  assert.deepEqual(of("success", true).text, "right");
  assert.deepEqual(of("inefficient", true).text, "right but too long");
  assert.deepEqual(of("success", false).outcome, "failure");
  const praised = templated({ outcome: "success", parts }, { right: true, detail: "answer", random });
  assert.deepEqual(praised, { text: "right", outcome: "success", marks: marks(true, true) });
  const blamed = templated({ outcome: "success", parts }, { right: false, detail: "answer", random });
  assert.match(blamed.text, /^wrong at step [12] : wrong way$/);
});

test("an attempt without parts gets a outcome alone; a remedy that does not exist is the right one", () => {
  const nothing = templated({ outcome: "failure", parts: [] }, { right: true, detail: "answer", random });
  assert.deepEqual(nothing, { text: "wrong", outcome: "failure", marks: [] });
  const only = { ...step(0, true), worse: [], name: "" };
  const { text } = templated(
    { outcome: "failure", parts: [only] },
    { right: false, detail: "answer", random },
  );
  assert.equal(text, "wrong : right way");
});

const strange = ["", " ", "\n\n", "💥", "go", "lookup of", "constructor", "w1 w1", "a".repeat(5000)];
const babble =
  (words: readonly string[]): Player =>
  (_task, _conversation, stream) =>
    stream.below(4) === 0
      ? strange[stream.below(strange.length)]!
      : Array.from({ length: 1 + stream.below(4) }, () => words[stream.below(words.length)]!).join(" ");

async function attempts(env: Environment, task: Task) {
  const words = (env.vocabulary?.() ?? []).flatMap((text) => text.split(/\s+/));
  const players: readonly Player[] = [env.expert!, env.flawed ?? env.expert!, babble(words), babble(words)];
  const played = await Promise.all(players.map((p, i) => play(env, task, p, randomStream(task.seed + i))));
  return played.map((one) => {
    const t = trajectoryOf(task, one.actions, one.end, one.outcome);
    const turns = t.turns.map((turn, k) => {
      const stateKey = one.stateKeys[k];
      return stateKey === undefined ? turn : { ...turn, stateKey };
    });
    return { t: { ...t, turns }, success: isSuccess(one) };
  });
}

const critical = [...environments.map((row) => row.make()), answers(), tryAgain(answers())];
for (const env of critical) {
  const { critique, name } = env;
  if (!critique) continue;

  test(`${name}: critiques know success from failure, point into the attempt, and repeat themselves`, async () => {
    for (const task of env.tasks("train").slice(0, 20)) {
      for (const { t, success } of await attempts(env, task)) {
        for (const detail of details) {
          const of = (right: boolean): Promise<Critique> =>
            critique.call(env, task, t, { right, detail, random });
          const said = await of(true);
          assert.deepEqual(await of(true), said);
          assert.equal(said.outcome === "failure", !success, `${task.id}: ${said.text}`);
          assert.ok(said.turn === undefined || (said.turn >= 0 && said.turn < t.turns.length));
          const misleading = await of(false);
          if (success) assert.equal(misleading.outcome, "failure");
          for (const { turn, from, to } of [...(said.marks ?? []), ...(misleading.marks ?? [])]) {
            assert.ok(0 <= from && from < to && to <= t.turns[turn]!.action.content.length);
          }
          if (detail === "answer" && said.turn !== undefined && !misleading.text.includes("right")) {
            assert.notEqual(misleading.text, said.text);
          }
        }
      }
      const nothing = trajectoryOf(task, [], { kind: "failed", boundary: "model", message: "none" });
      const none: Critique = await critique.call(env, task, nothing, {
        right: true,
        detail: "answer",
        random,
      });
      assert.equal(none.outcome, "failure");
    }
  });

  test(`${name}: the vocabularies have every word of its critiques`, async () => {
    const known = new Set(
      [...(env.vocabulary?.() ?? []), ...(env.critiqueVocabulary?.() ?? [])].flatMap((text) =>
        text.split(/\s+/),
      ),
    );
    for (const task of env.tasks("train").slice(0, 40)) {
      for (const { t } of await attempts(env, task)) {
        for (const right of [true, false]) {
          const { text } = await critique.call(env, task, t, { right, detail: "answer", random });
          for (const word of text.split(/\s+/)) assert.ok(known.has(word), `"${word}" in: ${text}`);
        }
      }
    }
  });
}
