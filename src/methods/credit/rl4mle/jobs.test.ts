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
