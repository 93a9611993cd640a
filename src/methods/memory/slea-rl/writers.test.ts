import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { withCode } from "../../../../test/train/world.ts";
import type { Chat } from "../../../core/chat.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import { chatLessons, messagesOf, turnLessons } from "./writers.ts";

/** An episode of places and what was done there. */
const episode = (...steps: readonly (readonly [seen: string, did: string])[]) =>
  trajectoryOf(
    "t",
    steps.map(([seen, did]) =>
      turnOf([1], [2], {
        prompt: [
          { role: "user", content: seen },
          { role: "user", content: "Lessons :\ndo at a : z" },
        ],
        action: { role: "assistant", content: did },
      }),
    ),
  );

test("a strategy is how a place was left for good, a warning what changed nothing", async () => {
  const walk = episode(
    ["hall", "push"],
    ["hall", "east"],
    ["yard", "back"],
    ["hall", "west"],
    ["shed", "dig"],
  );
  assert.deepEqual(await turnLessons(walk, "strategy"), [
    { turn: 2, text: "back" },
    { turn: 3, text: "west" },
    { turn: 4, text: "dig" },
  ]);
  assert.deepEqual(await turnLessons(walk, "warning"), [{ turn: 0, text: "push" }]);
});

test("lessons are said with their places, as many as fit", () => {
  const lessons = [
    { kind: "strategy", when: "the hall", text: "east" },
    { kind: "warning", when: "the hall", text: "push" },
  ] as const;
  const both = "Lessons :\ndo at the hall : east\nbeware at the hall : push";
  assert.deepEqual(messagesOf(lessons), [{ role: "user", content: both }]);
  // 9 characters of heading and 22 of the first line with its break
  assert.deepEqual(messagesOf(lessons, 31), [{ role: "user", content: "Lessons :\ndo at the hall : east" }]);
  assert.deepEqual(
    messagesOf(lessons, 30),
    [],
    "a line that is too long is left out, and a heading says nothing",
  );
  assert.deepEqual(messagesOf([]), []);
});

test("a model that reads the episode writes lessons; what does not fit is none", async () => {
  const asked: string[] = [];
  const answering = (answer: unknown): Chat => ({
    id: "scripted",
    reply: () => Promise.reject(new Error("nobody asks for words")),
    ask: async <T>({ messages }: { messages: readonly { content: string }[] }, schema: z.ZodType<T>) => {
      asked.push(messages.map(({ content }) => content).join("\n"));
      return schema.safeParse(answer).data;
    },
    spent: () => ({ calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
  });
  const walk = episode(["hall", "push"], ["hall", "east"]);
  const lesson = { turn: 2, lesson: "look for an open way" };
  const good = answering({ lessons: [lesson, { turn: 3, lesson: "there is no third turn" }] });
  assert.deepEqual(await chatLessons(good)(walk, "strategy"), [{ turn: 1, text: "look for an open way" }]);
  assert.match(asked[0]!, /went well.*turn 2, agent: east/s);
  assert.deepEqual(await chatLessons(answering({ lessons: [lesson, lesson] }), 1)(walk, "warning"), [
    { turn: 1, text: "look for an open way" },
  ]);
  assert.match(asked[1]!, /went badly/);
  assert.deepEqual(await chatLessons(answering("no JSON of that form"))(walk, "warning"), []);
});

test("a provider that fails has no lesson to give, and a spent budget stops the run", async () => {
  const broken = (code: "chat.failed" | "budget.spent"): Chat => ({
    id: "broken",
    reply: () => Promise.reject(new Error("nobody asks for words")),
    ask: () => Promise.reject(new WhetstoneError(code, { where: "it", got: "a", expected: "b", fix: "c" })),
    spent: () => ({ calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
  });
  const walk = episode(["hall", "push"], ["hall", "east"]);
  assert.deepEqual(await chatLessons(broken("chat.failed"))(walk, "strategy"), []);
  await assert.rejects(
    async () => chatLessons(broken("budget.spent"))(walk, "strategy"),
    withCode("budget.spent"),
  );
});
