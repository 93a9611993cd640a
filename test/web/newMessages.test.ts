import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../src/core/types.ts";
import { newMessages } from "../../web/src/parts/newMessages.ts";

const said = (content: string, more: Partial<Message> = {}): Message => ({
  role: "assistant",
  content,
  ...more,
});
const asked: Message = { role: "user", content: "and?" };
const choices = (...messages: readonly Message[]) => ({
  choices: messages.map((message) => ({ message, stop: "eos" as const })),
});
const call = (given: string): Message =>
  said("", { toolCalls: [{ id: "1", name: "look", arguments: given }] });

test("a reply that the next prompt repeats is not heard again", () => {
  assert.deepEqual(newMessages({ messages: [said("hi"), asked] }, choices(said("hi"))), [asked]);
  assert.deepEqual(newMessages({ messages: [call("{}"), asked] }, choices(call("{}"))), [asked]);
});

test("what differs from the reply, or chooses among replies, is heard", () => {
  const changed = [said("hi!"), asked];
  assert.deepEqual(newMessages({ messages: changed }, choices(said("hi"))), changed);
  const others = [call('{"at":1}'), asked];
  assert.deepEqual(newMessages({ messages: others }, choices(call("{}"))), others);
  const chosen = [said("b"), asked];
  assert.deepEqual(newMessages({ messages: chosen }, choices(said("a"), said("b"))), chosen);
  assert.deepEqual(newMessages({ messages: [said("hi")] }, undefined), [said("hi")]);
  assert.deepEqual(newMessages({ messages: [] }, choices(said("hi"))), []);
  // two in a row: the second is news
  assert.deepEqual(newMessages({ messages: [said("hi"), said("hi")] }, choices(said("hi"))), [said("hi")]);
});
