import assert from "node:assert/strict";
import { test } from "node:test";
import { loggedTask, type ServedLesson } from "../../src/core/lessons.ts";
import { mean } from "../../src/core/statistics.ts";
import type { Message, Trajectory, TurnTokens } from "../../src/core/words.ts";
import { lexiconCodec } from "../../src/engine/tabular/codec.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { loggedPrompts } from "../../src/env/loggedPrompts.ts";
import { cispo } from "../../src/method/baseline/cispo.ts";
import { dpo } from "../../src/method/baseline/dpo.ts";
import { grpo } from "../../src/method/baseline/grpo.ts";
import { kto } from "../../src/method/baseline/kto.ts";
import { sft } from "../../src/method/baseline/sft.ts";
import { scoreSelfCorrect } from "../../src/method/language-feedback/score-self-correct.ts";
import { preflexor } from "../../src/method/objective/preflexor.ts";
import { plainAscent } from "../../src/train/armOf.ts";
import { fromLessons, lessonsFor } from "../../src/train/fromLessons.ts";
import { practise } from "../../src/train/practise.ts";

const ask = (content: string): readonly Message[] => [{ role: "user", content }];
const nowhere = { sessions: ["s"], users: [], responses: ["r"], signals: ["c"] };

const task = (question: string, seed = 1) => ({
  id: loggedTask(question),
  prompt: ask(question),
  metadata: {},
  seed,
});

function reply(id: string, question: string, content: string, tokens?: TurnTokens): Trajectory {
  return {
    id,
    task: loggedTask(question),
    episode: id,
    role: "agent",
    turns: [
      {
        role: "agent",
        model: "policy",
        version: "v1",
        prompt: ask(question),
        action: { role: "assistant", content },
        ...(tokens ? { tokens } : {}),
        spans: {},
        stop: "eos",
        rewards: {},
        ms: 0,
      },
    ],
    end: { kind: "done", reason: "logged" },
    origin: "logged",
  };
}

/** What a policy gives a reply: Σ ln p over its tokens and the end. */
async function logpOf(policy: Parameters<NonNullable<Watched>>[2], question: string, content: string) {
  const prompt = policy.codec.open(ask(question));
  const action = [...policy.codec.encode(content), policy.codec.endId];
  const tokens = Int32Array.from([...prompt, ...action]);
  const { logp } = await policy.score({
    tokens_N: tokens,
    rowOffset: Int32Array.of(0, tokens.length),
    target_A: Int32Array.from(action, (_, i) => prompt.length + i),
    targetOffset: Int32Array.of(0, action.length),
  });
  return logp.reduce((a, b) => a + b, 0);
}
type Watched = Parameters<typeof practise>[0]["watch"];

/** Learns from lessons in a few steps; what the policy gives some replies before and after. */
async function learn(
  recipe: typeof dpo,
  lessons: readonly ServedLesson[],
  question: string,
  replies: readonly string[],
) {
  const environment = loggedPrompts(lessons);
  const done = await practise({
    environment,
    method: fromLessons(recipe.build({ ...plainAscent, learningRate: 0.5 }), lessons),
    engine: tabularEngine(),
    seed: 1,
    iterations: 20,
  });
  const fresh = await practise({
    environment,
    method: grpo.build(),
    engine: tabularEngine(),
    seed: 1,
    iterations: 0,
  });
  const before = await Promise.all(replies.map((text) => logpOf(fresh.policy, question, text)));
  const after = await Promise.all(replies.map((text) => logpOf(done.policy, question, text)));
  return { before, after, done };
}

const pairs: readonly ServedLesson[] = ["red", "blue"].map((question) => ({
  kind: "pair",
  id: question,
  task: task(question),
  from: nowhere,
  channel: "correction",
  source: "user",
  chosen: reply(`${question}/chosen`, question, "stop now"),
  rejected: reply(`${question}/rejected`, question, "go on"),
  strength: 1,
}));

test("corrections as pairs: dpo makes the correction likelier than the reply that it corrects", async () => {
  const { before, after, done } = await learn(dpo, pairs, "red", ["stop now", "go on"]);
  // a fresh table gives both the same
  assert.ok(Math.abs(before[0]! - before[1]!) < 1e-6);
  assert.ok(after[0]! - after[1]! > 1, `${after}`);
  assert.ok(after[0]! > before[0]! && after[1]! < before[1]!);
  assert.equal(done.counters.episodes, undefined); // nothing was played
});

test("demonstrations: sft makes what was shown likely", async () => {
  const shown: readonly ServedLesson[] = [
    {
      kind: "demonstration",
      id: "d",
      task: task("red"),
      from: nowhere,
      source: "user",
      shown: reply("d", "red", "stop now"),
    },
  ];
  const { before, after } = await learn(sft, shown, "red", ["stop now"]);
  assert.ok(after[0]! > before[0]! + 1, `${before} ${after}`);
});

const verdict = (id: string, text: string, good: boolean, question = "red"): ServedLesson => ({
  kind: "verdict",
  id,
  task: task(question),
  from: nowhere,
  channel: "thumb",
  source: "user",
  reply: reply(id, question, text),
  good,
});

test("verdicts: kto makes what was called good likelier, and what was called bad less likely", async () => {
  const verdicts = [verdict("up", "stop now", true), verdict("down", "go on", false)];
  const { before, after } = await learn(kto, verdicts, "red", ["stop now", "go on"]);
  assert.ok(after[0]! > before[0]! && after[1]! < before[1]!, `${before} ${after}`);
});

test("verdicts: a method that mines pairs compares replies to one prompt alone", async () => {
  const elsewhere = verdict("other", "go on", false, "blue");
  const one = [verdict("up", "stop now", true), verdict("down", "go on", false), elsewhere];
  const { before, after, done } = await learn(preflexor, one, "red", ["stop now", "go on"]);
  assert.equal(done.curve[0]!.pairs, 1);
  assert.ok(after[0]! - after[1]! > before[0]! - before[1]! + 1, `${before} ${after}`);
});

/** A conversation whose reply was drawn with probability `p`, and what it was worth to whoever asked. */
function conversation(
  id: string,
  text: string,
  p: number,
  value: number,
  words: readonly string[],
): ServedLesson {
  const codec = lexiconCodec(words);
  const action = Int32Array.from([...codec.encode(text), codec.endId]);
  const logp = new Float32Array(action.length);
  logp[0] = Math.log(p);
  const tokens = { prompt: codec.open(ask("red")), action, logp, behaviour: logp };
  return {
    kind: "conversation",
    id,
    task: task("red"),
    from: nowhere,
    logged: {
      trajectory: reply(id, "red", text, tokens),
      session: "s",
      responses: [id],
      propensities: [1],
      signals: [{ kind: "reward", channel: "sale", source: "shop", about: [{ trajectory: id }], value }],
      exposures: [],
    },
  };
}
const words = ["red", "stop", "go"];

test("logged rewards: off-policy gradients weigh each reply by its recorded probability", async () => {
  const lessons = [conversation("a", "stop", 0.5, 1, words), conversation("b", "go", 0.5, 0, words)];
  const { before, after, done } = await learn(cispo, lessons, "red", ["stop", "go"]);
  assert.ok(after[0]! > before[0]! && after[1]! < before[1]!, `${before} ${after}`);
  // V: the end token and 3 words can be written, 1/4 each; the end is certain in the log and 1/4 now
  // ratios: (1/4)/0.5 = 0.5 and (1/4)/1 = 0.25, mean 0.375
  assert.ok(Math.abs(done.curve[0]!["policyGradient.ratio"]! - 0.375) < 1e-5, JSON.stringify(done.curve[0]));
  assert.equal(done.curve[0]!["policyGradient.unknown"], 0);
});

test("what was not recorded as this policy's tokens is left out of conversations, and counted", async () => {
  const other = conversation("b", "go", 0.5, 0, ["a", "b", "c", "d", "go", "red"]);
  const bare = conversation("c", "stop", 0.5, 1, words);
  const textOnly: ServedLesson = {
    ...bare,
    ...(bare.kind === "conversation" && {
      logged: { ...bare.logged, trajectory: reply("c", "red", "stop") },
    }),
  };
  const lessons = [conversation("a", "stop", 0.5, 1, words), other, textOnly];
  const { done } = await learn(cispo, lessons, "red", []);
  assert.equal(mean(done.curve.map((m) => m.lessons!)), 3);
  assert.ok(Math.abs(done.curve[0]!.unfit! - 2 / 3) < 1e-12);
});

test("which lessons suit a method, and which methods cannot learn so", () => {
  assert.deepEqual(
    [dpo, sft, kto, preflexor, cispo].map((recipe) => lessonsFor(recipe.build())),
    ["pair", "demonstration", "verdict", "verdict", "conversation"],
  );
  assert.throws(() => fromLessons(scoreSelfCorrect.build(), []), { code: "config.invalid" });
});
