import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { play } from "../../../../test/env/play.ts";
import { randomStream } from "../../../core/random.ts";
import { tryAgain } from "../../../worlds/tryAgain.ts";
import { bounds, boundsVocabulary, hiddenNumber } from "./hiddenNumber.ts";
import { mistaught } from "./mistaught.ts";

obeysTheLaws(() => hiddenNumber(), { garbage: 0.3 });
obeysTheLaws(() => tryAgain(hiddenNumber(), { turns: 3, words: bounds, vocabulary: boundsVocabulary }), {
  garbage: 0.5,
});

const tasks = hiddenNumber({ tasks: 2000 }).tasks("train");
const hiding = (number: number) => tasks.find(({ reference }) => reference === `${number}`)!;
const said = (number: number, ...replies: string[]) =>
  bounds({ task: hiding(number), replies, text: undefined, random: randomStream(1) });

test("hiddenNumber: 1 is hidden in 1 / (1 + 1/2 + … + 1/8) of the tasks", () => {
  const share = tasks.filter(({ reference }) => reference === "1").length / tasks.length;
  // 0.368, with a deviation of √(0.368 · 0.632 / 2000) = 0.011
  assert.ok(Math.abs(share - 0.368) < 0.04, `${share}`);
  assert.equal(new Set(tasks.map(({ reference }) => reference)).size, 8);
});

test("bounds sums up the narrowest of what was shown, and never says the number", () => {
  assert.equal(said(4, "2"), "over 2");
  assert.equal(said(4, "2", "7", "1", "6"), "over 2 under 6");
  assert.equal(said(4, "8", "what"), "under 8");
  assert.equal(said(4, "what", ""), "no number");
  assert.equal(said(4, "4"), "no number");
});

test("tryAgain: a teacher sees all replies and the environment's own words; what it says is seen next", async () => {
  const task = hiding(4);
  const environment = tryAgain(hiddenNumber(), {
    turns: 3,
    words: ({ replies, text }) => `${replies.join(" ")} ${text ?? "nothing"}`,
  });
  const guesses = ["1", "2", "3"];
  const { conversation } = await play(
    environment,
    task,
    (_task, before) => guesses[(before.length - 1) / 2]!,
  );
  assert.deepEqual(
    conversation.map(({ content }) => content),
    ["guess", "1", "1 nothing", "2", "1 2 nothing", "3"],
  );
});

test("tryAgain: until the last reply, a right one is met like any other, and the last one counts", async () => {
  const task = hiding(4);
  const environment = tryAgain(hiddenNumber(), { turns: 2, words: "again", until: "last" });
  for (const [second, success] of [
    ["4", true],
    ["5", false],
  ] as const) {
    const episode = await environment.start(task, randomStream(1));
    assert.deepEqual(await episode.act({ content: "4", stop: "eos" }), { rewards: { outcome: 1 } });
    assert.equal((await episode.observe()).observation.messages[0]!.content, "again");
    const { end } = await episode.act({ content: second, stop: "eos" });
    assert.ok(end?.kind === "done" && end.success === success);
  }
});

test("mistaught speaks of another task, and of the only one there is", async () => {
  const lesson = { task: hiding(1), replies: ["4"], text: undefined, random: randomStream(1) };
  const [one, eight] = [hiding(1), hiding(8)];
  assert.equal(await mistaught(bounds, [one, eight])(lesson), "over 4");
  assert.equal(await mistaught(bounds, [one])(lesson), "under 4");
});
