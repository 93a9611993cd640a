import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { fastOf, kernels } from "./kernels.ts";

obeysTheLaws(() => kernels(), { garbage: 0.3 });

test("kernels: what each kind of answer pays, and what the profiler says", async () => {
  const env = kernels({ noise: 0, stops: 0, turns: 4 });
  const [task] = env.tasks("train");
  const slow = String(task!.metadata.slow);
  const other = ["v0", "v1", "v2"].find((v) => v !== fastOf(task!) && v !== slow)!;
  const episode = await env.start(task!, randomStream(1));
  const say = async (content: string) => (await episode.act({ content, stop: "eos" })).rewards;
  assert.deepEqual(await say(other), { outcome: 0 });
  assert.deepEqual(await say("library"), { outcome: 1, coverage: 0 });
  assert.deepEqual(await say(slow), { outcome: 1.05, coverage: 0.2 });
  const last = await episode.act({ content: fastOf(task!), stop: "eos" });
  assert.deepEqual(last.rewards, { outcome: 1.3, coverage: 0.8 });
  assert.deepEqual(last.end, { kind: "done", reason: "last turn", success: true });
});

test("kernels: episodes stop early as often as said", async () => {
  const env = kernels({ stops: 0.25, turns: 2 });
  const [task] = env.tasks("train");
  let stopped = 0;
  for (let i = 0; i < 1000; i++) {
    const episode = await env.start(task!, randomStream(i));
    if ((await episode.act({ content: "library", stop: "eos" })).end) stopped++;
  }
  assert.ok(Math.abs(stopped / 1000 - 0.25) < 0.06, `${stopped}`); // standard error 0.014
});
