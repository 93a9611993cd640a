/** Episodes of Minari, read in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withCode } from "../train/world.ts";
import { brought } from "./brought.ts";

const episode = {
  id: 0,
  observations: ["door?", "blue", "closed"],
  actions: ["look", "It is blue."],
  rewards: [0, 1.5],
  terminations: [false, true],
  truncations: [false, false],
  infos: { rewards: ["{}", "{}", '{"right":1,"style":0.5}'] },
};

test("each action is a response to what was seen and done before, and paid by name", async () => {
  const { imported, responses, signals } = await brought("minari", episode, {
    ...episode,
    id: 1,
    actions: [],
    observations: [""],
    rewards: [],
  });
  assert.deepEqual(imported.ignored, { "episode without an action": 1 });
  assert.deepEqual(
    responses.map(({ prompt, choices, turn }) => [
      turn,
      prompt.map(({ role, content }) => `${role}: ${content}`),
      choices[0]!.message.content,
    ]),
    [
      [0, ["user: door?"], "look"],
      [1, ["user: door?", "assistant: look", "user: blue"], "It is blue."],
    ],
  );
  assert.equal(new Set(responses.map(({ trajectory }) => trajectory)).size, 1);
  const second = responses[1]!.id;
  assert.deepEqual(
    signals.map(({ kind, channel, value, about }) => [kind, channel, value, about]),
    [
      ["reward", "right", 1, [{ response: second }]],
      ["reward", "style", 0.5, [{ response: second }]],
    ],
  );
});

test("without names, or with names of something else, a reward has its own", async () => {
  const values = async (row: object) =>
    (await brought("minari", row)).signals.map(({ channel, value }) => [channel, value]);
  const all = [
    ["reward", 0],
    ["reward", 1.5],
  ];
  assert.deepEqual(await values({ ...episode, infos: {} }), all);
  const odd = { rewards: ["{}", '{"right":9}', '{"right":9}'] };
  assert.deepEqual(await values({ ...episode, infos: odd }), all);
});

test("equal episodes of one data set are two; the same one again is one", async () => {
  const { imported } = await brought("minari", episode, { ...episode, id: 1 }, episode);
  assert.deepEqual(imported.responses, { added: 4, known: 2 });
});

test("what is no episode of texts is named by its line", async () => {
  await assert.rejects(
    brought("minari", episode, { ...episode, observations: [[0.5], [1], [2]] }),
    /line 2.*observations that are not texts/s,
  );
  await assert.rejects(
    brought("minari", { ...episode, observations: ["a", "b"] }),
    /2 observations, 2 actions and 2 rewards/,
  );
  await assert.rejects(brought("minari", { ...episode, actions: 3 }), withCode("import.invalid"));
});
