/** Critiquers, judges and simulated people behind a provider: a real server, real requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { type Asked, type Behaviour, provider } from "../../../../test/engine/chat/provider.ts";
import type { Counter } from "../../../core/counter.ts";
import { isWhetstoneError } from "../../../core/errors.ts";
import { evaluatorIn } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { budget } from "../../../engine/chat/budget.ts";
import { chatModel } from "../../../engine/chat/chat.ts";
import { carDealer } from "../../../env/carDealer/carDealer.ts";
import { counterpart } from "../../../env/counterparts.ts";
import { twentyQuestions } from "../../../env/guessing/twentyQuestions.ts";
import { chatCritiquer } from "../../../evaluator/chat.ts";
import { chatJudge } from "../../../evaluator/judge.ts";
import { scriptActor } from "../../../rollout/actor.ts";
import { playEpisode } from "../../../rollout/episode.ts";
import { judged } from "./judged.ts";

const task: Task = {
  id: "task",
  prompt: [{ role: "user", content: "capital of peru" }],
  reference: "lima",
  metadata: {},
  seed: 1,
};
const attempt = trajectoryOf("t", [
  turnOf([1], [2], {
    prompt: task.prompt,
    action: { role: "assistant", content: "the capital is cusco" },
  }),
]);
const random = randomStream(1);

async function served(behave: Behaviour, options: { calls?: number } = {}) {
  const { model, asked } = await provider(behave);
  const counted: Partial<Record<Counter, number>> = {};
  const ctx = ctxOf({
    task: () => task,
    random,
    count: (counter, n) => {
      counted[counter] = (counted[counter] ?? 0) + n;
    },
  });
  const limited = budget(options.calls === undefined ? {} : { calls: options.calls });
  return {
    chat: chatModel({ model, budget: limited, backoffSeconds: 0.01, retries: 1 }),
    asked,
    ctx,
    counted,
  };
}

const answer = JSON.stringify({
  outcome: "failure",
  turn: 1,
  good: ["the capital is"],
  poor: ["cusco"],
  advice: "think of the coast",
});

test("chatCritiquer reads the attempt and answers with outcome, turn, quotes and advice", async () => {
  const { chat, asked, ctx, counted } = await served(() => answer);
  const critiquer = chatCritiquer(chat, { instructions: "Be kind.", showsReference: true });
  const said = await evaluatorIn(ctx, critiquer).critique(attempt, random);
  assert.deepEqual(said, {
    text: "think of the coast",
    outcome: "failure",
    turn: 0,
    marks: [
      { turn: 0, from: 0, to: 14, good: true },
      { turn: 0, from: 15, to: 20, good: false },
    ],
  });
  const question = String(asked[0]!.messages.at(-1)!.content);
  for (const part of ["Be kind.", '"lima"', "user: capital of peru\nturn 1, agent: the capital is cusco"])
    assert.ok(question.includes(part), question);
  assert.deepEqual(counted, { "judge.calls": 1 });
});

test("chatCritiquer: no answer that fits, a turn that is not there, a provider that fails: silence, counted", async () => {
  const replies = ["good", "very good", answer.replace('"turn":1', '"turn":2')];
  const { chat, ctx, counted } = await served((_, n, response) => {
    if (n < replies.length) return replies[n]!;
    response.statusCode = 500;
    response.end("{}");
    return undefined;
  });
  for (let i = 0; i < 3; i++)
    assert.equal(await evaluatorIn(ctx, chatCritiquer(chat)).critique(attempt, random.split(i)), undefined);
  assert.deepEqual(counted, { "judge.calls": 3, "judge.failures": 3 });
});

test("a spent budget is not silence", async () => {
  const { chat, ctx } = await served(() => answer, { calls: 1 });
  const { critique } = evaluatorIn(ctx, chatCritiquer(chat));
  await critique(attempt, random);
  await assert.rejects(
    critique(attempt, random.split(1)),
    (e) => isWhetstoneError(e) && e.code === "budget.spent",
  );
});

test("chatJudge: the median of its calls, and those that failed are left out", async () => {
  const replies = ['{"why": "short", "score": 0.2}', '{"why": "right", "score": 1.0}', '{"score": 7}', "no"];
  const { chat, ctx, asked } = await served((_, n) => replies[n]!);
  const evidence = { trajectories: [attempt], units: [], notes: {} };
  const signals = await judged({ judge: chatJudge(chat, "true"), calls: 3 })(ctx, evidence, {});
  assert.equal(signals.length, 1);
  // of 0.2 and 1
  assert.ok(signals[0]!.kind === "score" && Math.abs(signals[0]!.value - 0.6) < 1e-12);
  assert.equal(new Set(asked.slice(0, 3).map((a) => a.seed)).size, 3);
});

const last = ({ messages }: Asked): string => String(messages.at(-1)?.content);

test("a counterpart hears what the agent says, and nobody else hears what it was told", async () => {
  const { chat, asked } = await served((a) => (last(a).includes("alive") ? "yes" : "no"));
  const environment = twentyQuestions({
    answerer: counterpart(chat, (t) => `You think of ${t.reference}.`),
    turns: 2,
  });
  const [one] = environment.tasks("train");
  const [played] = await playEpisode({
    environment,
    task: one!,
    id: "e",
    actor: () => scriptActor("p", () => "is it alive"),
    random,
  });
  assert.deepEqual(
    asked[0]!.messages.map((m) => [m.role, m.content]),
    [
      ["system", `You think of ${one!.reference}.`],
      ["user", "is it alive"],
    ],
  );
  assert.match(JSON.stringify(played!.turns[1]!.prompt), /yes/);
});

test("a counterpart that hears everything hears it the other way round; when the money is gone the run ends", async () => {
  const { chat, asked } = await served(() => "too much", { calls: 2 });
  const environment = carDealer({ buyer: counterpart(chat, () => "You want a car.") });
  const [one] = environment.tasks("train");
  const playing = playEpisode({
    environment,
    task: one!,
    id: "e",
    actor: () => scriptActor("p", () => "offer"),
    random,
  });
  await assert.rejects(playing, (e) => isWhetstoneError(e) && e.code === "budget.spent");
  assert.deepEqual(
    asked[1]!.messages.slice(-3).map((m) => [m.role, m.content]),
    [
      ["user", "offer"],
      ["assistant", "too much"],
      ["user", "offer"],
    ],
  );
});
