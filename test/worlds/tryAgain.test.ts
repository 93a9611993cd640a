import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { maze } from "../../src/env/maze.ts";
import { answers, rightOf } from "../../src/worlds/answers.ts";
import { sequences } from "../../src/worlds/sequences.ts";
import { tryAgain } from "../../src/worlds/tryAgain.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => tryAgain(sequences()), { garbage: 0.3 });

async function begun(turns: number) {
  const environment = tryAgain(answers({ questions: 1, vocabulary: 3, right: 1 }), { turns, words: "no" });
  const [task] = environment.tasks("train");
  const [right] = rightOf(task!);
  const wrong = ["a0", "a1", "a2"].find((word) => word !== right)!;
  const episode = await environment.start(task!, randomStream(1));
  const say = (content: string) => episode.act({ content, stop: "eos" });
  const seen = async () => (await episode.observe()).observation;
  return { id: task!.id, right: right!, wrong, episode, say, seen };
}

test("tryAgain: a wrong answer is met with the same words, a right one ends the episode", async () => {
  const { id, right, wrong, say, seen } = await begun(5);
  assert.deepEqual(await seen(), { messages: [], stateKey: `${id} after 0` });
  for (const k of [1, 2]) {
    assert.deepEqual(await say(wrong), { rewards: { outcome: 0 } });
    const messages = [{ role: "user", content: "no" }];
    assert.deepEqual(await seen(), { messages, stateKey: `${id} after ${k}` });
  }
  const end = { kind: "done", reason: "right", success: true };
  assert.deepEqual(await say(right), { rewards: { outcome: 1 }, end });
  assert.equal((await say(right)).rewards, undefined); // over
});

test("tryAgain: the last try ends it", async () => {
  const { right, wrong, say } = await begun(2);
  await say(wrong);
  assert.deepEqual((await say(wrong)).end, { kind: "done", reason: "wrong", success: false });
  const other = await begun(2);
  await other.say(wrong);
  assert.deepEqual((await other.say(right)).end, { kind: "done", reason: "right", success: true });
});

test("tryAgain: an environment of several turns is refused", () => {
  assert.throws(() => tryAgain(maze()), { code: "config.invalid" });
});
