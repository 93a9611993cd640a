import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message, Task, Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { lock } from "../../../worlds/lock.ts";
import { byCompletions } from "./completions.ts";
import { spcSelfPlayCritic } from "./method.ts";
import { type IsError, sneakyQuestion, stepGame, withStep } from "./stepGame.ts";
import { hardWords, stepSpeaker, steps } from "./steps.ts";

obeysTheLaws(() => steps(1), { garbage: 0.4 });

const prompt: readonly Message[] = [{ role: "user", content: "q0" }];
const task: Task = { id: "t", prompt, metadata: {}, seed: 1 };
const said = (content: string) => turnOf([1], [2], { prompt, action: { role: "assistant", content } });
const attempt = (id: string, words: readonly string[], success: boolean): Trajectory =>
  trajectoryOf(id, words.map(said), { task: "t", end: { kind: "done", reason: "over", success } });

/** One attempt of one step, `plain`, rewritten as `bad`; the critic says `verdict` of everything. */
async function played(verdict: string, isError: IsError, attempts = [attempt("a", ["plain"], true)]) {
  const vocabulary = ["q0 plain bad RIGHT WRONG", sneakyQuestion, verdictQuestion];
  const engine = tabularEngine({
    prior: (context, word) => {
      if (context.at(-1) !== "<assistant>") return word === "<end>" ? 50 : 0;
      return word === (context.includes("notice") ? "bad" : verdict) ? 50 : 0;
    },
  });
  const model = await engine.create({ id: "policy", seed: 1, vocabulary, contextTokens: 64 });
  const ctx = ctxOf({ random: randomStream(1), model: () => model, task: () => task });
  const { trajectories, units, stats } = await stepGame(async () => ({ trajectories: attempts, units: [] }), {
    isError,
  })(ctx);
  const texts = trajectories.filter(({ id }) => units.some((unit) => unit.id === id));
  const rewards = Object.fromEntries(
    texts.map(({ role, id, turns }) => [`${role} ${id}`, turns[0]!.rewards]),
  );
  return { rewards, units, stats };
}

test("an error that is missed pays the generator, one that is found the critic; right steps are judged as often", async () => {
  const missed = await played("RIGHT", async () => true);
  assert.deepEqual(missed.rewards, {
    "sneaky a/sneaky": { fooled: 1 },
    "critic a/verdict error": { verdict: -1 },
    "critic a/verdict right": { verdict: 1 },
  });
  assert.deepEqual(
    missed.units.map(({ group }) => group),
    ["sneaky", "critic", "critic"],
  );
  assert.deepEqual(missed.stats, { valid: 1, recall: 0, specificity: 1 });
  const found = await played("WRONG", async () => true);
  assert.deepEqual(found.rewards, {
    "sneaky a/sneaky": { fooled: -1 },
    "critic a/verdict error": { verdict: 1 },
    "critic a/verdict right": { verdict: -1 },
  });
});

test("a rewritten step that is no error costs the generator and is not judged; failed attempts are not played", async () => {
  const none = await played("RIGHT", async () => false);
  assert.deepEqual(none.rewards, { "sneaky a/sneaky": { fooled: -1 } });
  const failed = await played("RIGHT", async () => true, [attempt("a", ["plain"], false)]);
  assert.deepEqual(failed.units, []);
});

test("withStep: the attempt up to the step, with another text there, and no tokens to replay", () => {
  const other = withStep(attempt("a", ["x", "y", "z"], true), 1, "w");
  assert.deepEqual(
    other.turns.map(({ action }) => action.content),
    ["x", "w"],
  );
  assert.ok(other.turns[0]!.tokens && other.turns[1]!.tokens === undefined);
});

test("an error: success is high after the step and low after the rewritten one", async () => {
  const plays: Play[] = [];
  /** Shares of successes after the step as it was and after the rewritten one, of four. */
  const isError = async (before: number, after: number, text = "w") => {
    const own = attempt("a", ["x", "y", "z"], true);
    const ctx = ctxOf({
      random: randomStream(1),
      play: async (play) => {
        const isRewritten = play.from?.trajectory !== own;
        const place = plays.push(play) - 1;
        return [attempt("c", ["x"], place % 4 < 4 * (isRewritten ? after : before))];
      },
    });
    plays.length = 0;
    return byCompletions({ solver: "solver" })(ctx, own, 1, withStep(own, 1, text));
  };
  assert.equal(await isError(0.75, 0.5), true);
  assert.ok(plays.every(({ from, models }) => from?.turn === 2 && models?.agent === "solver"));
  assert.equal(new Set(plays.map((play) => play.attempt)).size, 8);
  assert.equal(await isError(0.75, 0.75), false);
  assert.equal(await isError(0.5, 0.5), false);
  assert.equal(await isError(1, 0, " y "), false);
});

test("completions find the wrong settings of a lock, and both players learn from them", async () => {
  const environment = lock({ locks: 4, wheels: 3, settings: 3 });
  const settings = environment.tasks("train").map((own) => own.metadata.settings as readonly string[]);
  const { curve, policy } = await trainInMemory({
    environment,
    engine: tabularEngine({
      prior: (context, word) => {
        if (context.includes("RIGHT") || context.includes("notice")) {
          if (context.at(-1) !== "<assistant>") return word === "<end>" ? 9 : 0;
          return /^(s\d|RIGHT|WRONG)$/.test(word) ? 5 : 0;
        }
        const at = context.lastIndexOf("wheel");
        return settings[Number(context[at - 1])]?.[Number(context[at + 1])] === word ? 9 : 0;
      },
    }),
    method: spcSelfPlayCritic.build({ tasks: 4, groupSize: 2, optimiser: "sgd", learningRate: 1 }),
    seed: 1,
    iterations: 3,
  });
  assert.ok(
    curve.every(({ valid = 0 }) => valid > 0.1 && valid < 1),
    JSON.stringify(curve.map((s) => s.valid)),
  );
  assert.notEqual(policy.version, "0");
});

test("steps: the critic begins by finding what is not hard to notice, and missing the rest", () => {
  const asked = (step: string) => [
    ...["<user>", "q1", "<end>", "<assistant>", step, "<end>", "<user>"],
    ...verdictQuestion.split(" "),
    ...["<end>", "<assistant>"],
  ];
  const wrong = (step: string) => stepSpeaker(asked(step), "WRONG") - stepSpeaker(asked(step), "RIGHT");
  assert.deepEqual([wrong("k0"), wrong(hardWords[0]!), wrong("plain")], [2, -2, -2]);
});
