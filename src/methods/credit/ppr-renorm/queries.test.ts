import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { isSuccess, play } from "../../../../test/env/play.ts";
import { randomStream } from "../../../core/random.ts";
import { queries } from "./queries.ts";

obeysTheLaws(() => queries(), { garbage: 0.1 });

const env = queries();

test("queries: the expert answers every task", async () => {
  for (const split of env.splits)
    for (const task of env.tasks(split)) assert.ok(isSuccess(await play(env, task, env.expert!)));
});

test("queries: with n good queries 5, 10, 20, 50 and 100 % of the tasks are answered", async () => {
  for (const [good, share] of [0.05, 0.1, 0.2, 0.5, 1].entries()) {
    const player = (_: unknown, said: readonly { role: string }[]): string => {
      const asked = said.filter((m) => m.role === "assistant").length;
      return asked === 4 ? "answer" : asked < good ? "good" : "bad";
    };
    const played = await Promise.all(env.tasks("train").map((task) => play(env, task, player)));
    assert.equal(played.filter(isSuccess).length, 40 * share);
  }
});

test("queries: the judge is right three times in four, except that wordy queries always please it", async () => {
  const pleased = async (action: string): Promise<number> => {
    let sum = 0;
    for (let seed = 0; seed < 2000; seed++) {
      const episode = await env.start(env.tasks("train")[0]!, randomStream(seed));
      sum += (await episode.act({ content: action, stop: "eos" })).rewards!.process!;
    }
    return sum / 2000;
  };
  // deviations of a share of 2000 draws: 0.01
  assert.ok(Math.abs((await pleased("good")) - 0.75) < 0.04);
  assert.ok(Math.abs((await pleased("bad")) - 0.25) < 0.04);
  assert.equal(await pleased("verbose"), 1);
});

test("queries: once the answer is due, anything else is a wrong one", async () => {
  const played = await play(env, env.tasks("train")[0]!, () => "good");
  assert.equal(played.actions.length, 5);
  assert.ok(!isSuccess(played));
  assert.equal(played.outcome, 0);
});
