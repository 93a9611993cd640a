import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { lamps } from "../../src/worlds/lamps.ts";
import { obeysTheLaws } from "../env/laws.ts";
import { play } from "../env/play.ts";

obeysTheLaws(() => lamps(), { garbage: 0.1 });

const env = lamps({ error: 0 });
const task = env.tasks("train")[0]!;

/** Mean outcome of a player over many walks. */
async function mean(player: NonNullable<typeof env.expert>): Promise<number> {
  let sum = 0;
  for (let walk = 0; walk < 300; walk++)
    sum += (await play(env, task, player, randomStream(walk))).outcome! / 300;
  return sum;
}

test("lamps: the balance of a walk is what its words say, and only told at its end", async () => {
  const played = await play(env, task, () => "left", randomStream(3));
  assert.equal(played.actions.length, 30);
  const count = (word: string) => played.texts.filter((text) => text.split(" ").includes(word)).length;
  assert.equal(played.outcome, count("light") - count("bump"));
  const episode = await env.start(task, randomStream(3));
  assert.equal((await episode.act({ content: "left", stop: "eos" })).rewards, undefined);
});

test("lamps: good ways bring 15 in 30 steps, what is no way −3", async () => {
  // 30 · (0.6 − 0.1) and 30 · (0.2 − 0.3); deviations of a mean of 300 walks: below 0.2
  assert.ok(Math.abs((await mean(env.expert!)) - 15) < 0.8);
  assert.ok(Math.abs((await mean(() => "up")) + 3) < 0.8);
});

test("lamps: the error blurs what is told and not what counts as success", async () => {
  const blurred = lamps({ error: 100 });
  const [sharp, told] = await Promise.all(
    [env, blurred].map((of) => play(of, task, of.expert!, randomStream(5))),
  );
  assert.notEqual(told!.outcome, sharp!.outcome);
  assert.deepEqual(told!.end, sharp!.end);
});
