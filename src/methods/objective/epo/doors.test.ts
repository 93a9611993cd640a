import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { play } from "../../../../test/env/play.ts";
import { doors, isDoor } from "./doors.ts";

obeysTheLaws(() => doors(), { garbage: 0.05 });

const env = doors({ cells: 5, every: 2, turns: 7 });
const [first, second] = env.tasks("train");

test("doors stand at every other cell but the first", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((cell) => isDoor(cell, 2)),
    [false, false, true, false, true],
  );
});

test("out leaves by a door for a tenth, and wastes a turn where there is none", async () => {
  const said = ["out", "on", "on", "out"];
  const { actions, outcome, end, conversation } = await play(env, first!, (_task, heard) => {
    return said[heard.filter((m) => m.role === "assistant").length]!;
  });
  assert.deepEqual(actions, said);
  assert.equal(outcome, 0.1);
  assert.deepEqual(end, { kind: "done", reason: "left", success: false });
  assert.deepEqual(
    conversation.filter((m) => m.role === "user").map((m) => m.content),
    ["c0.0", "c0.0", "c0.1", "c0.2"],
  );
});

test("the end pays one; corridors share no cell", async () => {
  const { outcome, end, conversation } = await play(env, second!, () => "on");
  assert.equal(outcome, 1);
  assert.deepEqual(end, { kind: "done", reason: "arrived", success: true });
  assert.ok(conversation.every((m) => m.role === "assistant" || m.content.startsWith("c1.")));
});

test("who dawdles is cut off unpaid", async () => {
  const { outcome, end, actions } = await play(env, first!, () => "hm");
  assert.equal(outcome, 0);
  assert.equal(actions.length, 7);
  assert.deepEqual(end, { kind: "truncated", limit: "turns", at: 7 });
});
