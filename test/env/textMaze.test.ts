import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { textMaze } from "../../src/env/textMaze.ts";
import { play } from "./play.ts";

test("text maze: the expert's return is one less than the shortest way, a cost a move but the last", async () => {
  const env = textMaze({ layouts: 1 });
  assert.deepEqual(
    env.splits.map((split) => env.tasks(split).length),
    [24, 0, 0], // one maze of 25 cells, all of them trained
  );
  for (const task of env.tasks("train")) {
    const played = await play(env, task, env.expert!);
    assert.equal(played.actions.length, task.metadata.shortest);
    const episode = await env.start(task, randomStream(1));
    let paid = 0;
    for (const content of played.actions)
      paid += (await episode.act({ content, stop: "eos" })).rewards?.cost ?? 0;
    assert.equal(paid, 1 - Number(task.metadata.shortest));
  }
});

test("text maze: without the place, what is seen is the open ways alone, and states still differ", async () => {
  const [seen, walls] = [textMaze({ layouts: 1 }), textMaze({ layouts: 1, sees: "walls" })];
  const prompts = (env: typeof seen): string[] => env.tasks("train").map((t) => t.prompt[0]!.content);
  assert.equal(new Set(prompts(seen)).size, 24);
  assert.ok(new Set(prompts(walls)).size <= 15, "ways that can be open around a cell");
  for (const [i, text] of prompts(walls).entries()) assert.ok(prompts(seen)[i]!.endsWith(`; ${text}`));
  const keys = await Promise.all(
    walls
      .tasks("train")
      .map(async (t) => (await (await walls.start(t, randomStream(1))).observe()).observation),
  );
  assert.equal(new Set(keys.map((o) => o.stateKey)).size, 24);
});

test("text maze: walls and words that are no move are told apart, and cost a turn", async () => {
  const env = textMaze({ turns: 3 });
  const task = env.tasks("train").find((t) => !t.prompt[0]!.content.includes("north"))!;
  const episode = await env.start(task, randomStream(1));
  const act = (content: string) => episode.act({ content, stop: "eos" });
  assert.deepEqual(await act("go north"), { rewards: { cost: -1 }, text: "a wall is there" });
  assert.equal((await act("fly")).text, "say go and a direction");
  assert.deepEqual(await act("fly"), {
    rewards: { cost: -1, outcome: 0 },
    text: "say go and a direction",
    end: { kind: "truncated", limit: "turns", at: 3 },
  });
});
