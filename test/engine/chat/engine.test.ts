import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Chat } from "../../../src/core/chat.ts";
import { isWhetstoneError, WhetstoneError } from "../../../src/core/errors.ts";
import { chatEngine } from "../../../src/engine/chat/engine.ts";
import { codewords } from "../../../src/env/codewords.ts";
import { method } from "../../../src/method/method.ts";
import { grpo } from "../../../src/methods/baseline/grpo/method.ts";
import type { RunEvent } from "../../../src/train/events.ts";
import { train } from "../../../src/train/run.ts";
import { nothing } from "../../../src/update/nothing.ts";

const root = mkdtempSync(join(tmpdir(), "whetstone-chat-engine-"));
after(() => rmSync(root, { recursive: true }));

const environment = codewords({ questions: 4, length: 2, vocabulary: 3 });
const right = new Map(
  [...environment.tasks("train"), ...environment.tasks("test")].map((task) => [
    task.prompt[0]!.content,
    environment.expert?.(task, [], undefined as never) ?? "",
  ]),
);

/** Knows every code; its purse holds so many replies. */
function knowing(purse = Number.POSITIVE_INFINITY): Chat & { readonly asked: () => number } {
  let asked = 0;
  return {
    id: "knowing",
    async reply({ messages }) {
      if (asked >= purse)
        throw new WhetstoneError("budget.spent", { where: "w", got: "g", expected: "e", fix: "m" });
      asked++;
      const content = right.get(messages.at(-1)?.content ?? "") ?? "";
      return {
        message: { role: "assistant", content },
        stop: "eos",
        tokens: { input: 1, output: 1 },
        cached: false,
      };
    },
    ask: async () => undefined,
    spent: () => ({ calls: asked, cachedCalls: 0, inputTokens: asked, outputTokens: asked, usd: 0 }),
    asked: () => asked,
  };
}

const looksOn = method({
  id: "looks-on",
  family: "memory",
  summary: "test",
  weightFree: true,
  slots: { update: nothing() },
});

const options = (chat: Chat, name: string) => ({
  environment,
  method: looksOn.build({ tasks: 2, groupSize: 2 }),
  engine: chatEngine(chat),
  iterations: 10,
  out: join(root, name),
  evaluation: { tasks: 3, every: 0 },
});
const never = new AbortController().signal;

test("a model that only talks plays a whole run, and is measured once, not twice, a task", async () => {
  const chat = knowing();
  const done = await train({ ...options(chat, "talks"), episodes: 10 }, () => {}, never);
  assert.equal(done.success.mean, 1);
  // 3 tasks before and 3 after; training in fours until 10 are reached: 12
  assert.equal(done.iterations, 3);
  assert.equal(chat.asked(), 3 + 12 + 3);
});

test("an empty purse interrupts the run; with a fuller one it goes on, and what was trained is not trained again", async () => {
  const poor = knowing(9);
  const events: RunEvent["type"][] = [];
  const stopped = train({ ...options(poor, "purse"), episodes: 8 }, ({ type }) => events.push(type), never);
  await assert.rejects(stopped, (e) => isWhetstoneError(e) && e.code === "budget.spent");
  assert.equal(events.at(-1), "interrupted");
  const rich = knowing();
  await train({ ...options(rich, "purse"), episodes: 8, resume: true }, () => {}, never);
  // 3 before, 8 in training, 3 after; the poor one had paid for 9: what was measured before, in the state that was saved,
  // and 6 of training, in the journal
  assert.equal(rich.asked(), 14 - 9);
});

test("a method that trains weights is refused before anything is asked", async () => {
  const chat = knowing();
  const refused = train({ ...options(chat, "grpo"), method: grpo.build() }, () => {}, never);
  await assert.rejects(refused, /no tokens.*method/s);
  assert.equal(chat.asked(), 0);
});
