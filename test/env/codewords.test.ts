import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { codeOf, codewords } from "../../src/env/codewords.ts";

const environment = codewords({ questions: 2, length: 3, vocabulary: 4, says: true });
const task = environment.tasks("train")[0]!;
const [first, second, third] = codeOf(task);
const others = ["w0", "w1", "w2", "w3"];
const wrongFor = (right: string | undefined): string => others.find((word) => word !== right)!;
const reply = async (content: string, env = environment) =>
  (await env.start(task, randomStream(1))).act({ content, stop: "eos" });

test("a reply is told each wrong word with its place", async () => {
  const [x, y] = [wrongFor(first), wrongFor(third)];
  assert.equal((await reply(`${x} ${second} ${y}`)).text, `not ${x} at 1 , ${y} at 3`);
  assert.equal((await reply(`${first} ${second} ${third}`)).text, undefined);
  // what is missing, or no word of a code, is not named
  assert.equal((await reply(`${first}`)).text, undefined);
  assert.equal((await reply(`at ${second} ${y}`)).text, `not ${y} at 3`);
});

test("what is said can be read, and nothing is said unless wished", async () => {
  const known = new Set(environment.vocabulary!().flatMap((text) => text.split(" ")));
  const { text = "" } = await reply(`${wrongFor(first)} ${wrongFor(second)} ${wrongFor(third)}`);
  for (const word of text.split(" ")) assert.ok(known.has(word), word);
  const silent = codewords({ questions: 2, length: 3, vocabulary: 4 });
  assert.equal((await reply(wrongFor(first), silent)).text, undefined);
});
