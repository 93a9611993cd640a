import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { textNavigation } from "../../src/env/textNavigation.ts";

/** Two rooms above two others; the way is kitchen - cellar, cellar - attic (south), attic - study (west). */
const task: Task = {
  id: "house",
  prompt: [{ role: "user", content: "" }],
  metadata: {
    side: 2,
    open: [["east"], ["south", "west"], ["east"], ["north", "west"]],
    rooms: ["kitchen", "cellar", "study", "attic"],
    things: [
      { name: "apple", cell: 1 },
      { name: "hat", cell: 0 },
    ],
    start: 0,
    target: 2,
  },
  seed: 1,
};

test("text navigation: only the room is seen; the thing is brought room by room", async () => {
  const env = textNavigation();
  const episode = await env.start(task, randomStream(1));
  const act = (content: string) => episode.act({ content, stop: "eos" });
  const seen = async () => (await episode.observe()).observation;
  assert.deepEqual((await seen()).legal, ["go east", "take hat"]);
  assert.deepEqual(await act("take hat"), { rewards: { cost: -1 } });
  assert.equal(
    (await seen()).messages[0]?.content,
    "in the kitchen ; ways : east ; here : nothing ; carried : hat",
  );
  await act("go east");
  assert.equal((await act("take apple")).text, "first drop what you carry");
  await act("drop hat");
  assert.equal(
    (await seen()).messages[0]?.content,
    "in the cellar ; ways : south west ; here : apple hat ; carried : nothing",
  );
  await act("take apple");
  await act("go south");
  await act("go west");
  assert.deepEqual(await act("drop apple"), {
    rewards: { outcome: 1 },
    end: { kind: "done", reason: "brought", success: true },
  });
});

test("text navigation: what can not be done costs a turn, changes nothing and is explained", async () => {
  const env = textNavigation();
  const episode = await env.start(task, randomStream(1));
  const before = (await episode.observe()).observation.stateKey;
  const wrong: readonly (readonly [string, string])[] = [
    ["go north", "there is no way in that direction"],
    ["take apple", "that is not here"],
    ["take constructor", "that is not here"],
    ["drop hat", "you do not carry that"],
    ["jump", "use go , take or drop and one word"],
  ];
  for (const [content, text] of wrong)
    assert.deepEqual(await episode.act({ content, stop: "eos" }), { rewards: { cost: -1 }, text });
  assert.equal((await episode.observe()).observation.stateKey, before);
});
