import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { isSuccess, play } from "../../../../test/env/play.ts";
import { randomStream } from "../../../core/random.ts";
import { jobs } from "./jobs.ts";

obeysTheLaws(() => jobs(), { garbage: 0.2 });

test("jobs: a program pays its score and says how long it ran; the best one is a success", async () => {
  const env = jobs({ programs: { quick: { score: 0.2, seconds: 3 }, long: { score: 0.9, seconds: 40 } } });
  const task = env.tasks("train")[0]!;
  assert.ok(isSuccess(await play(env, task, env.expert!)));
  const episode = await env.start(task, randomStream(1));
  const { rewards, end } = await episode.act({ content: " quick ", stop: "eos" });
  assert.deepEqual(rewards, { outcome: 0.2, seconds: 3 });
  assert.deepEqual(end, { kind: "done", reason: "ran", success: false });
});

obeysTheLaws(() => jobs({ noise: 0.2 }), { garbage: 0.2 });

test("jobs: with noise a score differs from run to run, around the program's own", async () => {
  const env = jobs({ noise: 0.2 });
  const scores: number[] = [];
  for (let i = 0; i < 400; i++) {
    const episode = await env.start(env.tasks("train")[0]!, randomStream(i));
    scores.push((await episode.act({ content: "slow", stop: "eos" })).rewards!.outcome!);
  }
  const mean = scores.reduce((a, b) => a + b / 400, 0);
  const deviation = Math.sqrt(scores.reduce((a, b) => a + (b - mean) ** 2 / 400, 0));
  assert.ok(Math.abs(mean - 0.8) < 0.04 && Math.abs(deviation - 0.2) < 0.03, `${mean} ± ${deviation}`);
});

test("jobs: what is no program scores nothing in no time", async () => {
  const env = jobs();
  for (const content of ["", "constructor", "fast slow"]) {
    const step = await (await env.start(env.tasks("test")[0]!, randomStream(2))).act({
      content,
      stop: "eos",
    });
    assert.deepEqual(step.rewards, { outcome: 0, seconds: 0 });
  }
});
