import assert from "node:assert/strict";
import { test } from "node:test";
import {
  critiqueText,
  environmentText,
  firstOf,
  insertedAfterTask,
  referenceAnswer,
  siblingSolution,
} from "../../../src/common/tokens/privilegedContext.ts";
import { randomStream } from "../../../src/core/random.ts";
import type { Experience } from "../../../src/core/slots.ts";
import type { Ending, Message, Task, Trajectory } from "../../../src/core/types.ts";
import { critiquing, ctxWith, trajectoryOf, turnOf } from "../../core/make.ts";

const ended = (success: boolean): Ending => ({ kind: "done", reason: "over", success });
const attempt = (id: string, said: string, success: boolean, text?: string): Trajectory =>
  trajectoryOf(
    id,
    [
      turnOf([1], [2], { action: { role: "assistant", content: said }, ...(text !== undefined && { text }) }),
      turnOf([1, 2, 3], [4], { action: { role: "assistant", content: "stop" } }),
    ],
    { end: ended(success) },
  );
const [a, b, c, d] = [
  attempt("a", "<think>maybe\nleft</think> left", false, "wall"),
  attempt("b", "<think>or\nright</think> right", true),
  attempt("c", "up", true),
  attempt("d", "down", false),
];
const experience: Experience = {
  trajectories: [a, b, c, d],
  units: [
    { id: "a", group: "task", members: ["a"] },
    { id: "b", group: "task", members: ["b"] },
    { id: "c", group: "task", members: ["c"] },
    { id: "d", group: "other", members: ["d"] },
  ],
  critiques: new Map([["d", { text: "not down" }]]),
};
const task: Task = { id: "task", prompt: [], reference: "right", metadata: {}, seed: 0 };
const ctx = ctxWith({}, { task: () => task, random: randomStream(1) });

test("siblingSolution: the first success of the same group, never the attempt itself, without its thoughts", async () => {
  const tell = siblingSolution();
  assert.equal(await tell(ctx, a, experience), "right\nstop");
  assert.equal(await tell(ctx, b, experience), "up\nstop");
  assert.equal(await tell(ctx, c, experience), "right\nstop");
  assert.equal(await tell(ctx, d, experience), undefined);
  const whole = siblingSolution((action) => action);
  assert.equal(await whole(ctx, a, experience), "<think>or\nright</think> right\nstop");
});

test("what the environment, a critiquer and the task have to say, and the first that speaks", async () => {
  assert.equal(await environmentText(ctx, a, experience), "wall");
  assert.equal(await environmentText(ctx, b, experience), undefined);
  assert.equal(await critiqueText()(ctx, d, experience), "not down");
  assert.equal(await critiqueText()(ctx, a, experience), undefined);
  const asked = critiqueText(critiquing(() => ({ text: "no" })));
  assert.equal(await asked(ctx, d, experience), "not down");
  assert.equal(await asked(ctx, a, experience), "no");
  assert.equal(await referenceAnswer(ctx, a, experience), "right");
  const first = firstOf(environmentText, critiqueText(), siblingSolution());
  assert.equal(await first(ctx, a, experience), "wall");
  assert.equal(await first(ctx, d, experience), "not down");
  assert.equal(await first(ctx, c, experience), "right\nstop");
  assert.equal(await firstOf()(ctx, a, experience), undefined);
});

test("insertedAfterTask stands between the task and what came later", () => {
  const say = (content: string): Message => ({ role: "user", content });
  const prompt = [say("system"), say("question")];
  assert.deepEqual(
    insertedAfterTask([...prompt, say("later")], "answer", { prompt }).map((m) => m.content),
    ["system", "question", "answer", "later"],
  );
});
