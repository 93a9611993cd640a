import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Play } from "../../../core/context.ts";
import { randomStream } from "../../../core/random.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Ending } from "../../../core/types.ts";
import { glimpsed, glimpses, hasty, isVerdict } from "./glimpses.ts";
import { tracesOf, verdictReward } from "./judgeTraces.ts";
import { keepThinking } from "./keepThinking.ts";
import { j1Stts } from "./method.ts";

obeysTheLaws(() => glimpses({ pairs: 3 }), { garbage: 0.7 });
obeysTheLaws(() => keepThinking(glimpses({ pairs: 3 }), { times: () => 1, isVerdict }), { garbage: 0.7 });

test("the first verdicts do not count, a cue follows each, and what was seen stays", async () => {
  const environment = keepThinking(glimpses({ pairs: 1 }), { times: () => 2, isVerdict });
  assert.equal(environment.limits.turns, 8);
  const [task] = environment.tasks("train");
  const wrong = task!.reference === "first" ? "second" : "first";
  const episode = await environment.start(task!, randomStream(1));
  const act = (content: string) => episode.act({ content, stop: "eos" });
  const shown = async () => (await episode.observe()).observation.messages.map(({ content }) => content);
  assert.deepEqual(await shown(), []);
  assert.deepEqual(await act(wrong), {});
  assert.deepEqual(await shown(), ["Wait"]);
  await act("check");
  const [saw] = await shown();
  assert.match(saw!, /^saw (first|second)$/);
  assert.deepEqual(await act(wrong), {});
  assert.deepEqual(await shown(), ["Wait"]);
  const last = await act(task!.reference!);
  assert.deepEqual([last.rewards, last.end?.kind], [{ outcome: 1 }, "done"]);
});

test("a look is right in seven of ten, and both orders of a pair have opposite labels", async () => {
  const environment = glimpses({ pairs: 200 });
  const tasks = environment.tasks("test");
  let right = 0;
  for (const [i, task] of tasks.entries()) {
    if (i % 2 === 1) assert.notEqual(task.reference, tasks[i - 1]!.reference);
    const episode = await environment.start(task, randomStream(i));
    await episode.observe();
    await episode.act({ content: "check", stop: "eos" });
    const [{ content } = { content: "" }] = (await episode.observe()).observation.messages;
    right += Number(content === `saw ${task.reference}`);
  }
  assert.ok(Math.abs(right / tasks.length - 0.7) < 0.07, `${right}`); // deviation 0.023
});

test("the judge sees the balance of its looks, and begins by following the last one", () => {
  const seen = [
    "<user>",
    "which",
    "?",
    "<end>",
    "<assistant>",
    "check",
    "<end>",
    "<user>",
    "saw",
    "first",
    "<end>",
  ];
  const more = ["<assistant>", "check", "<end>", "<user>", "saw", "second", "<end>", "<assistant>"];
  assert.deepEqual(glimpsed([...seen, "<assistant>"]), ["balance 1", "last first", "goes on", "always"]);
  assert.deepEqual(glimpsed([...seen, ...more]), ["balance 0", "last second", "goes on", "always"]);
  const told = [...seen, "<assistant>", "first", "<end>", "<user>", "Wait", "<end>", "<assistant>"];
  assert.deepEqual(glimpsed(told), ["balance 1", "last first", "waits", "always"]);
  const words = ["check", "first", "second"];
  assert.deepEqual(
    words.map((word) => hasty([...seen, ...more], word)),
    [0, 0.5, 1.5],
  );
  assert.equal(hasty(told, "check"), 2);
});

test("traces are a frozen model's, whole, for the policy to imitate", async () => {
  const plays: Play[] = [];
  const ctx = ctxOf({
    roles: ["judge"],
    tasks: [{ id: "pair", prompt: [], metadata: {}, seed: 1 }],
    play: async (play) => {
      plays.push(play);
      const turns = [turnOf([1], [2], { model: "start" }), turnOf([1], [3], { model: "start" })];
      return [trajectoryOf(`${play.attempt}`, turns, { task: "pair" })];
    },
  });
  const { trajectories, units } = await tracesOf({ groupSize: 2, temperature: 1, model: "start" })(ctx);
  assert.deepEqual(plays[0]!.models, { judge: "start" });
  assert.equal(units.length, 2);
  for (const { origin, turns } of trajectories) {
    assert.deepEqual([origin, ...turns.map(({ model }) => model)], ["demonstrated", "policy", "policy"]);
  }
});

test("1, 0, and less than that without a verdict; imitation comes first, for as long as it is told to", async () => {
  const ends: readonly Ending[] = [
    { kind: "done", reason: "first", success: true },
    { kind: "done", reason: "second", success: false },
    { kind: "truncated", limit: "turns", at: 6 },
    { kind: "failed", boundary: "model", message: "gone" },
  ];
  const trajectories = ends.map((end, i) => trajectoryOf(`${i}`, [turnOf([1], [2])], { end }));
  const signals = await verdictReward(-1)(ctxWith({}), { trajectories, units: [] }, {});
  assert.deepEqual(signals.map(signalValue), [1, 0, -1]);
  const { phases = [] } = j1Stts.build({}, { stage: 7 });
  assert.deepEqual(
    phases.map(({ from, until }) => [from, until]),
    [[0, 7]],
  );
});
