import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { counsel, moodAfter } from "./counsel.ts";

obeysTheLaws(() => counsel(), { garbage: 0.5 });

test("counsel: the mood is worked by hand, and stays within its ends", () => {
  const [task] = counsel().tasks("train");
  const near = (said: readonly string[], want: number): void => {
    assert.ok(Math.abs(moodAfter(task!, said) - want) < 1e-9, `${said}: ${moodAfter(task!, said)}`);
  };
  near([], -2);
  near(["validate"], -1.7);
  near(["advise"], -2.5);
  near(["probe", "advise"], -2.9); // the answer has not come yet
  near(["probe", "validate", "advise"], -0.1);
  near(["probe", "probe", "advise", "advise"], -1.3); // to ask again is to wait again
  near(Array<string>(20).fill("advise"), -5);
  assert.ok(Math.abs(Math.abs(moodAfter(task!, ["joke"]) + 2) - 0.8) < 1e-9);
});

test("counsel: the judge sees the change, the moment and noise; the rating comes once", async () => {
  const env = counsel({ turns: 3, drift: 0.5, noise: 0, ratingNoise: 0 });
  const [task] = env.tasks("train");
  const episode = await env.start(task!, randomStream(1));
  const say = async (content: string) => (await episode.act({ content, stop: "eos" })).rewards!;
  assert.ok(Math.abs((await say("probe")).judge! - (-0.4 + 0.5)) < 1e-9);
  assert.ok(Math.abs((await say("validate")).judge! - 0.3) < 1e-9);
  const last = await say("advise");
  assert.ok(Math.abs(last.judge! - (2 - 0.5)) < 1e-9);
  assert.ok(Math.abs(last.outcome! - -0.1) < 1e-9);
});

test("counsel: people leave in the second half as often as said", async () => {
  const env = counsel({ turns: 4, leaves: 0.25 });
  const [task] = env.tasks("train");
  const lengths: number[] = [];
  for (let i = 0; i < 1000; i++) {
    const episode = await env.start(task!, randomStream(i));
    let n = 1;
    while (!(await episode.act({ content: "joke", stop: "eos" })).end) n++;
    lengths.push(n);
  }
  assert.ok(Math.min(...lengths) === 3);
  const left = lengths.filter((n) => n === 3).length / lengths.length;
  assert.ok(Math.abs(left - 0.25) < 0.06, `${left}`); // standard error 0.014
});
