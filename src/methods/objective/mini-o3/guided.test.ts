import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { type BlackBox, type GuidedRequest, guided } from "../../../env/guided.ts";
import { tickets } from "../../../env/tickets.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { answers, rightOf } from "../../../worlds/answers.ts";
import { keyDoor } from "../../../worlds/keyDoor.ts";
import { votes } from "./votes.ts";

/** Does as it is told. */
const obedient: BlackBox = ({ hint }) => hint;
const world = answers({ questions: 4, vocabulary: 6, right: 1 });
const answer = (task: Task): string => rightOf(task)[0]!;

const act = async (environment: typeof world, content: string, seed = 1) => {
  const episode = await environment.start(environment.tasks("train")[0]!, randomStream(seed));
  const { observation } = await episode.observe();
  return { observation, ...(await episode.act({ content, stop: "eos" })) };
};

test("guided: the black box sees the task and the hint as it is framed when served, the guide sees the task alone", async () => {
  const asked: GuidedRequest[] = [];
  const blackBox: BlackBox = (request) => {
    asked.push(request);
    return "a0";
  };
  const environment = guided(world, { blackBox, frame: "Think of {hint}." });
  const { observation } = await act(environment, " a3 ");
  await act(environment, "");
  assert.deepEqual(observation.messages, []);
  assert.deepEqual(asked[0]!.messages, [
    { role: "system", content: "Think of a3." },
    { role: "user", content: "q0" },
  ]);
  assert.deepEqual(asked[1]!.messages, [{ role: "user", content: "q0" }]);
  assert.equal(asked[0]!.hint, "a3");
});

test("guided: the reward is the mean over plays, the success that of the first, each with a seed of its own", async () => {
  const task = world.tasks("train")[0]!;
  const said: number[] = [];
  // right in the first and the third of four plays: 2 / 4
  const blackBox: BlackBox = ({ seed }) => {
    said.push(seed);
    return said.length % 2 === 1 ? answer(task) : "none";
  };
  const { rewards, end } = await act(guided(world, { blackBox, plays: 4 }), "a1");
  assert.deepEqual(rewards, { outcome: 0.5 });
  assert.equal(end?.kind === "done" && end.success, true);
  assert.equal(new Set(said).size, 4);
});

test("guided: with the right hints, which its pseudo-hints are here, who does as it is told solves every task", async () => {
  const environment = guided(world, { blackBox: obedient, pseudoHint: answer, words: ["so"] });
  for (const split of environment.splits) {
    const { result } = await evaluate({
      environment,
      agent: environment.flawed!,
      split,
      mode: "sampled",
      tasks: 4,
      random: randomStream(1),
      limit: (work) => work(),
    });
    assert.equal(result.success.mean, 1);
  }
  assert.deepEqual(environment.vocabulary!(), [...world.vocabulary!(), "so"]);
});

test("guided: equal seeds give equal replies, whatever else is played", async () => {
  const blackBox: BlackBox = ({ seed }) => `a${seed % 6}`;
  const environment = guided(tickets(), { blackBox, plays: 2 });
  assert.deepEqual(await act(environment, "x", 7), await act(environment, "x", 7));
});

test("guided: a whole episode is played, with what was said before in view", async () => {
  const environment = keyDoor();
  const expert = environment.expert!;
  const lengths: number[] = [];
  const blackBox: BlackBox = ({ task, messages, seed }) => {
    lengths.push(messages.length);
    return expert(task, messages, randomStream(seed));
  };
  const { rewards, text, end } = await act(guided(environment, { blackBox }), "");
  assert.equal(end?.kind === "done" && end.success, true);
  assert.equal(lengths.length, text?.split("\n").length);
  assert.ok(lengths.length > 1 && lengths.every((n, i) => i === 0 || n > lengths[i - 1]!));
  assert.ok((rewards?.outcome ?? 0) > 0);
});

test("guided: a black box that breaks costs the episode", async () => {
  const blackBox: BlackBox = () => {
    throw new Error("no connection");
  };
  const { result } = await evaluate({
    environment: guided(world, { blackBox }),
    agent: answer,
    split: "train",
    mode: "sampled",
    tasks: 4,
    random: randomStream(1),
    limit: (work) => work(),
  });
  assert.equal(result.failed, 4);
});

test("guided: several roles, and plays that cannot be counted, are refused", () => {
  assert.throws(() => guided({ ...votes(), roles: ["a", "b"] }, { blackBox: obedient }), {
    code: "config.invalid",
  });
  for (const plays of [0, 1.5, Number.NaN])
    assert.throws(() => guided(world, { blackBox: obedient, plays }), { code: "option.range" });
});
