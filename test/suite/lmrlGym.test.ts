import assert from "node:assert/strict";
import { test } from "node:test";
import type { Chat, ChatRequest } from "../../src/core/chat.ts";
import { randomStream } from "../../src/core/random.ts";
import { vocabularyCodec } from "../../src/engine/tabular/codec.ts";
import { lmrlGames, lmrlGym } from "../../src/suite/lmrlGym.ts";
import type { SuiteOptions, SuiteResult } from "../../src/suite/suite.ts";
import { play } from "../env/play.ts";

const run = (agent: SuiteOptions["agent"], more: Partial<SuiteOptions> = {}): Promise<SuiteResult> =>
  lmrlGym.run({ agent, mode: "sampled", random: randomStream(1), limit: (work) => work(), ...more });
const rowsOf = ({ rows }: SuiteResult, section: string) => rows.filter((row) => row.section === section);

test("lmrl-gym: the expert scores 100 in each of eight games, which is the mark that was measured", async () => {
  const found = await run("expert");
  const scores = rowsOf(found, "Score");
  assert.equal(scores.length, 1 + lmrlGames.length);
  for (const { name, value } of scores) assert.ok(Math.abs(value.mean - 100) < 0.5, `${name}: ${value.mean}`);
  for (const { name, value } of rowsOf(found, "Success")) assert.equal(value.mean, 1, name);
});

test("lmrl-gym: the flawed player is what 50 was measured on, over more draws than these", async () => {
  const found = await run("flawed");
  const scores = new Map(rowsOf(found, "Score").map(({ name, value }) => [name, value]));
  for (const { make } of lmrlGames) {
    const { low, high, n } = scores.get(make().name)!;
    // few games of chess, all of them won, have no interval
    if (n > 10) assert.ok(low <= 50 && 50 <= high, `${make().name}: ${low} to ${high}`);
  }
  assert.deepEqual(await run("flawed"), found);
});

test("lmrl-gym: the scale of every game rises, and its return is one that the game pays", async () => {
  for (const { make, reward, marks } of lmrlGames) {
    assert.ok(marks.random < marks.data && marks.data < marks.best);
    const { limits } = make();
    assert.ok(reward === "outcome" || marks.random === -limits.turns);
  }
});

test("lmrl-gym: who has not been trained here is told the rules first; who says nothing of use scores 0 where turns cost", async () => {
  const asked: ChatRequest[] = [];
  const chat: Chat = {
    id: "hum",
    reply: async (request) => {
      asked.push(request);
      return {
        message: { role: "assistant", content: "hum" },
        stop: "eos",
        tokens: { input: 0, output: 0 },
        cached: false,
      };
    },
    ask: async () => undefined,
    spent: () => ({ calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
  };
  const found = await run(chat, { tasks: 1 });
  const first = asked.map(({ messages }) => messages[0]!);
  assert.deepEqual(
    [...new Set(first.map((m) => `${m.role}: ${m.content}`))],
    lmrlGames.map(({ rules }) => `system: ${rules}`),
  );
  const scores = new Map(rowsOf(found, "Score").map(({ name, value }) => [name, value.mean]));
  for (const { make, reward } of lmrlGames)
    if (reward === "cost") assert.equal(scores.get(make().name), 0, make().name);
});

test("lmrl-gym: a model of whole words reads and writes all that is said in a game", async () => {
  for (const { make } of lmrlGames) {
    const game = make();
    const codec = vocabularyCodec(game.vocabulary?.() ?? []);
    const { conversation } = await play(game, game.tasks("train")[0]!, game.flawed!);
    for (const { content } of conversation)
      assert.equal(codec.decode(codec.encode(content)), content, game.name);
  }
});
