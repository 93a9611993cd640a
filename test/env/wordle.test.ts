import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomStream } from "../../src/core/random.ts";
import { attributesOf, bestGuess, consistent, marksInWords } from "../../src/env/wordle/marks.ts";
import { wordle } from "../../src/env/wordle/wordle.ts";
import { play } from "./play.ts";

test("marks: greens first, then yellows from the left, as often as the secret has the letter", () => {
  // secret a b b e y, guess k e b a b: third letter green; e, a and the last b stand elsewhere (one b is left)
  assert.equal(marksInWords("kebab", "abbey"), "k grey e yellow b green a yellow b yellow");
  // secret a b i d e has one e, in its place: neither of the others is left for
  assert.equal(marksInWords("eerie", "abide"), "e grey e grey r grey i yellow e green");
  // 2 + 2·3 + 0·9 = 8
  assert.equal(attributesOf("abc", "abd"), 8);
});

test("marks: the word itself is green all over, and the secret stays possible whatever is guessed", () => {
  const word = fc.stringMatching(/^[abcd]{4}$/);
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 4 }), fc.array(word), (secret, guesses, others) => {
      assert.equal(attributesOf(secret, secret), 3 ** 4 - 1);
      assert.ok(consistent([...others, secret], guesses, secret).includes(secret));
    }),
    { seed: 1 },
  );
});

test("bestGuess: splits what is possible, and takes what is left of two", () => {
  // after "ab" the four others are told apart: (green, grey), (grey, green), (yellow, yellow), (grey, grey)
  assert.equal(bestGuess(["zz", "ab"], ["ac", "cb", "ba", "cd"]), "ab");
  assert.equal(bestGuess(["zz", "ab"], ["cd", "ba"]), "cd");
});

test("wordle: a guess costs 1 until the word is found; what contradicts earlier marks is pointed out", async () => {
  const game = wordle({ answers: ["cat", "cot", "dog", "cut", "pen"], turns: 3 });
  const task = game.tasks("train")[0]!;
  const episode = await game.start(task, randomStream(1));
  const others = ["c a t", "d o g"].filter((g) => g.replaceAll(" ", "") !== task.reference);
  assert.deepEqual((await episode.observe()).observation.legal?.length, 5);
  assert.deepEqual((await episode.act({ content: "x x x", stop: "eos" })).rewards, { cost: -1 });
  const first = await episode.act({ content: others[0]!, stop: "eos" });
  assert.deepEqual(first.rewards, { cost: -1 });
  const found = await episode.act({ content: task.reference!, stop: "eos" });
  assert.deepEqual(found, {
    rewards: { outcome: 1 },
    end: { kind: "done", reason: "found", success: true },
  });
});

test("wordle: the hidden words of the splits differ", () => {
  const game = wordle();
  const words = game.splits.map((split) => game.tasks(split).map((t) => t.reference));
  assert.deepEqual(
    words.map((w) => w.length),
    [955, 137, 273], // 0.7, 0.1 and 0.2 of 1,365
  );
  assert.equal(new Set(words.flat()).size, 1365);
});

test("wordle: a lost game ends after its guesses", async () => {
  const game = wordle();
  const played = await play(game, game.tasks("train")[0]!, () => "z z z z z");
  assert.equal(played.actions.length, 6);
  assert.deepEqual(played.end, { kind: "done", reason: "out of guesses", success: false });
});
