import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chat, ChatRequest } from "../../src/core/chat.ts";
import { randomStream } from "../../src/core/random.ts";
import { carDealer } from "../../src/env/carDealer/carDealer.ts";
import { chessEndgames } from "../../src/env/chess/chessEndgames.ts";
import { chatAnswerer, chatBuyer, chatOpponent } from "../../src/env/counterparts.ts";
import type { Environment } from "../../src/env/environment.ts";
import { twentyQuestions } from "../../src/env/guessing/twentyQuestions.ts";

/** A model that says these things, one after the other. */
function saying(...replies: readonly string[]) {
  const asked: ChatRequest[] = [];
  const chat: Chat = {
    id: "said",
    reply: async (request) => {
      asked.push(request);
      const content = replies[asked.length - 1] ?? "";
      return {
        message: { role: "assistant", content },
        stop: "eos",
        tokens: { input: 0, output: 0 },
        cached: false,
      };
    },
    ask: async () => undefined,
    spent: () => ({ calls: asked.length, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
  };
  return { chat, asked };
}

async function begun(environment: Environment, which = 0) {
  const task = environment.tasks("train")[which]!;
  const episode = await environment.start(task, randomStream(1));
  const act = async (content: string) => {
    const step = await episode.act({ content, stop: "eos" });
    return { step, heard: (await episode.observe()).observation.messages[0]?.content };
  };
  return { task, act };
}

test("an answerer is told the thing and the question; an answer that names it is withheld", async () => {
  const things = ["dog", "ice cream", "oak", "hotdog", "cat"].map((name) => ({
    name,
    answers: { "is it big": "no" },
  }));
  const game = twentyQuestions({ things });
  const which = game.tasks("train").findIndex((t) => t.reference === "dog" || t.reference === "ice cream");
  const name = game.tasks("train")[which]!.reference!;
  const { chat, asked } = saying("Not really.", `It is a ${name.toUpperCase()}!`, `a hot${name}stand`);
  const { act } = await begun(twentyQuestions({ things, answerer: chatAnswerer(chat) }), which);
  assert.equal((await act("is it useful?")).heard, "Not really.");
  assert.match(asked[0]!.messages[0]!.content, new RegExp(`You think of: ${name}\\.`));
  assert.equal(asked[0]!.messages[1]!.content, "is it useful");
  assert.equal((await act("what is it")).heard, "i can not say");
  assert.equal((await act("and else")).heard, `a hot${name}stand`, "another word that has the name in it");
});

test("a buyer hears the dealer, knows what they want, and ends the talk by the first word", async () => {
  const { chat, asked } = saying("Too much for me.", "Deal!");
  const { task, act } = await begun(carDealer({ buyer: chatBuyer(chat) }));
  const car = String(task.metadata.car);
  assert.equal((await act(`the ${car} for 90`)).heard, "Too much for me.");
  const { step } = await act(`${car} 10`);
  assert.equal(step.end?.kind === "done" && step.end.reason, "sold for 10");
  const [first, ...talk] = asked[1]!.messages;
  assert.match(first!.content, new RegExp(`buy a ${car}, for at most ${task.metadata.limit} thousand`));
  assert.deepEqual(
    talk.map((m) => [m.role, m.content]),
    [
      ["assistant", task.prompt[0]!.content],
      ["user", `the ${car} for 90`],
      ["assistant", "Too much for me."],
      ["user", `${car} 10`],
    ],
  );
});

test("an opponent is shown the position; what is no move there is replaced", async () => {
  const { chat, asked } = saying("I resign, well played");
  const env = chessEndgames({ opponent: chatOpponent(chat) });
  const { task, act } = await begun(env);
  const move = env.expert!(task, task.prompt, randomStream(1));
  assert.match((await act(move)).heard!, /^black plays [a-h][1-8] [a-h][1-8]/);
  assert.match(asked[0]!.messages[1]!.content, / b - - 1 1$/);
});
