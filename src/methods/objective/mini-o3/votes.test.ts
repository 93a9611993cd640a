import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { play } from "../../../../test/env/play.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { leaderAfter, votes } from "./votes.ts";

obeysTheLaws(() => votes(), { garbage: 0.5 });

const task: Task = {
  id: "votes/train/0",
  prompt: [{ role: "user", content: "lead1" }],
  metadata: { truth: 2, given: [1, 2, 2, 2, 0] },
  seed: 1,
};

test("the leading answer is the one named most, the first of equals", () => {
  assert.deepEqual(leaderAfter(task, 1), { right: false, lead: 1 });
  assert.deepEqual(leaderAfter(task, 2), { right: false, lead: 0 });
  assert.deepEqual(leaderAfter(task, 3), { right: true, lead: 1 });
  assert.deepEqual(leaderAfter(task, 5), { right: true, lead: 2 });
  assert.deepEqual(leaderAfter(task, 2, [2, 2]), { right: true, lead: 2 });
});

test("asking shows the lead, answering gives the leader, dawdling is cut off", async () => {
  const env = votes({ turns: 3 });
  const say = (...said: string[]) =>
    play(env, task, (_task, heard) => said[heard.filter((m) => m.role === "assistant").length] ?? "hm");
  const asked = await say("ask", "ask", "answer");
  assert.deepEqual(
    asked.conversation.filter((m) => m.role === "user").map((m) => m.content),
    ["lead1", "lead0", "lead1"],
  );
  assert.equal(asked.outcome, 1);
  assert.equal((await say("answer")).outcome, 0);
  assert.deepEqual((await say("ask")).end, { kind: "truncated", limit: "turns", at: 3 });
});

test("votes are reliable as often as asked for, and their own in each episode where wished", async () => {
  const env = votes({ questions: 400, reliable: 0.7 });
  const given = env.tasks("train").flatMap((t) => {
    const { truth, given: heard } = t.metadata as { truth: number; given: number[] };
    return heard.map((vote) => Number(vote === truth));
  });
  const share = given.reduce((a, b) => a + b, 0) / given.length;
  assert.ok(Math.abs(share - 0.7) < 0.01, `${share}`);

  const fresh = votes({ evidence: "episode" });
  const shown = new Set<string>();
  for (let i = 0; i < 8; i++) {
    const { conversation } = await play(fresh, fresh.tasks("train")[0]!, () => "ask", randomStream(i));
    shown.add(conversation.map((m) => m.content).join(" "));
  }
  assert.ok(shown.size > 4);
});
