import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { guessMyCity } from "../../src/env/guessing/guessMyCity.ts";
import { objects } from "../../src/env/guessing/objects.ts";
import { twentyQuestions } from "../../src/env/guessing/twentyQuestions.ts";

const things = [
  { name: "a", answers: { "is it big": "yes", "is it red": "yes" } },
  { name: "b", answers: { "is it big": "yes", "is it red": "no" } },
  { name: "c", answers: { "is it big": "no", "is it red": "no" } },
  { name: "d", answers: { "is it big": "no", "is it red": "no" } },
  { name: "e", answers: { "is it big": "no", "is it red": "yes" } },
];
const begun = async (reference: string) => {
  const game = twentyQuestions({ things, turns: 4 });
  const task = { ...game.tasks("train")[0]!, reference };
  const episode = await game.start(task, randomStream(1));
  const act = (content: string) => episode.act({ content, stop: "eos" });
  return { episode, act, heard: async () => (await episode.observe()).observation.messages[0]?.content };
};

test("guessing: questions are answered however they are punctuated, guesses end the game", async () => {
  const { act, heard } = await begun("c");
  assert.deepEqual(await act("Is it big?"), { rewards: { cost: -1 } });
  assert.equal(await heard(), "no");
  assert.deepEqual(await act("is it blue"), {
    rewards: { cost: -1 },
    text: "ask one of the questions or guess a name",
  });
  assert.equal(await heard(), "i can not say");
  await act("constructor");
  assert.equal(await heard(), "i can not say", "what every object has is no answer");
  assert.deepEqual(await act("guess c"), {
    rewards: { outcome: 1 },
    end: { kind: "done", reason: "found", success: true },
  });
});

test("guessing: what was asked or ruled out before is pointed out", async () => {
  const { act, heard } = await begun("c");
  await act("is it big");
  assert.equal((await act("is it big")).text, "you asked that before");
  assert.equal((await act("guess a")).text, "that can not be after what you know");
  assert.equal(await heard(), "no , it is something else");
  assert.deepEqual((await act("guess d")).end, {
    kind: "done",
    reason: "out of questions",
    success: false,
  });
});

test("guessing: another answerer can be asked anything, and need not answer the same again", async () => {
  const asked: string[] = [];
  const game = twentyQuestions({
    things,
    answerer: async (task, question) => {
      asked.push(`${task.reference}: ${question}`);
      return "perhaps";
    },
  });
  assert.ok(!game.abilities.has("replay"));
  const task = game.tasks("train")[0]!;
  const episode = await game.start(task, randomStream(1));
  assert.deepEqual(await episode.act({ content: "what is it made of ?", stop: "eos" }), {
    rewards: { cost: -1 },
  });
  assert.equal((await episode.observe()).observation.messages[0]?.content, "perhaps");
  assert.deepEqual(asked, [`${task.reference}: what is it made of`]);
});

test("twenty questions: answers tell all things apart", () => {
  assert.equal(new Set(objects.map(({ answers }) => JSON.stringify(answers))).size, objects.length);
});

test("guess my city: answers are facts, and the country is no fair question", async () => {
  const game = guessMyCity();
  const task = game.splits.flatMap((s) => game.tasks(s)).find((t) => t.reference === "lima");
  assert.ok(task);
  const episode = await game.start(task, randomStream(1));
  const said = async (content: string) => {
    await episode.act({ content, stop: "eos" });
    return (await episode.observe()).observation.messages[0]?.content;
  };
  assert.equal(await said("which continent is it on?"), "south america");
  assert.equal(await said("is it a capital"), "yes");
  assert.equal(await said("in which country is it"), "that would be too easy");
});
