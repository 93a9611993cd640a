/** Episodes of Minari, read in. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importFile } from "../../src/exchange/import/importFile.ts";
import { gathered } from "../../src/exchange/sessions.ts";
import { openProduction } from "../../src/store/index.ts";
import { folder, withCode } from "../train/world.ts";

const root = folder();

async function brought(...rows: readonly unknown[]) {
  const file = join(root, "episodes.jsonl");
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const production = await openProduction(":memory:");
  try {
    const imported = await importFile(production, file, { from: "minari", now: 1_800_000_000_000 });
    return {
      imported,
      responses: await gathered(production.responses()),
      signals: await gathered(production.signals()),
    };
  } finally {
    await production.close();
  }
}

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
  const { imported, responses, signals } = await brought(episode, {
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
    (await brought(row)).signals.map(({ channel, value }) => [channel, value]);
  const all = [
    ["reward", 0],
    ["reward", 1.5],
  ];
  assert.deepEqual(await values({ ...episode, infos: {} }), all);
  const odd = { rewards: ["{}", '{"right":9}', '{"right":9}'] };
  assert.deepEqual(await values({ ...episode, infos: odd }), all);
});

test("equal episodes of one data set are two; the same one again is one", async () => {
  const { imported } = await brought(episode, { ...episode, id: 1 }, episode);
  assert.deepEqual(imported.responses, { added: 4, known: 2 });
});

test("what is no episode of texts is named by its line", async () => {
  await assert.rejects(
    brought(episode, { ...episode, observations: [[0.5], [1], [2]] }),
    /line 2.*observations that are no texts/s,
  );
  await assert.rejects(
    brought({ ...episode, observations: ["a", "b"] }),
    /2 observations, 2 actions and 2 rewards/,
  );
  await assert.rejects(brought({ ...episode, actions: 3 }), withCode("import.invalid"));
});
