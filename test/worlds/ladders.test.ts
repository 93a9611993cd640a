import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { ladders, qualityAfter, rightEdit } from "../../src/worlds/ladders.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => ladders({ ladders: 4, levels: 4, turns: 4 }), { garbage: 0.1 });

test("ladders: the right edit goes one level up and pays its share, others change nothing", async () => {
  const world = ladders({ ladders: 2, levels: 4, edits: 3, turns: 3 });
  const [task] = world.tasks("train");
  const episode = await world.start(task!, randomStream(1));
  const wrong = ["e0", "e1", "e2"].find((edit) => edit !== rightEdit(task!, 0))!;
  await episode.observe();
  assert.deepEqual((await episode.act({ content: wrong, stop: "length" })).rewards, { outcome: 0 });
  assert.equal((await episode.observe()).observation.stateKey, "l0 level 0");
  const up = await episode.act({ content: rightEdit(task!, 0), stop: "length" });
  assert.deepEqual(up.rewards, { outcome: 0.25 });
  assert.deepEqual((await episode.observe()).observation.messages, [{ role: "user", content: "l0 level 1" }]);
  const last = await episode.act({ content: wrong, stop: "length" });
  assert.deepEqual(last.end, { kind: "done", reason: "out of edits", success: false });
});

test("qualityAfter: two levels of chance ½ and ¼", () => {
  // after one edit ½ · ½; after two: level 1 ½·½ + ½·¾ = 0.625, level 2 ½·¼ = 0.125: 0.3125 + 0.125
  assert.deepEqual(qualityAfter([0.5, 0.25], 2), [0.25, 0.4375]);
  assert.deepEqual(qualityAfter([1, 1], 3), [0.5, 1, 1]);
});
