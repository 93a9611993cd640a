import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../../src/core/types.ts";
import { dialogue } from "../../../src/env/agent/dialogue.ts";
import type { ChatCall } from "../../../src/env/agent/request.ts";

const call = (messages: readonly Message[], more: Partial<ChatCall> = {}): ChatCall => ({
  model: "m",
  messages,
  tools: [],
  n: 1,
  stream: false,
  includeUsage: false,
  logprobs: false,
  tokenIds: false,
  oneCall: false,
  json: false,
  ...more,
});
const user = (content: string): Message => ({ role: "user", content });
const raw = "<function=look> <parameter=item> a </parameter> </function>";
const seen = (given: string): Message => ({
  role: "assistant",
  content: "",
  toolCalls: [{ id: "1", name: "look", arguments: given }],
});
const result: Message = { role: "tool", content: "7", toolCallId: "1" };

/** One call made, and answered by a tool call. */
function begun() {
  const talk = dialogue();
  const first = talk.hear(call([user("q")]));
  talk.said({ text: raw, stop: "eos" }, { message: seen('{"item":"a"}'), finish: "tool_calls" });
  return { talk, first };
}

test("dialogue: the first call is a whole conversation, one that adds to it goes on", () => {
  const { talk, first } = begun();
  assert.deepEqual(first, { messages: [user("q")], whole: true });
  // arguments written anew, with other blanks and another id
  const again = {
    ...seen('{ "item" : "a" }'),
    toolCalls: [{ id: "2", name: "look", arguments: '{ "item" : "a" }' }],
  };
  const next = talk.hear(call([user("q"), again, result], { maxTokens: 3, stop: ["x"] }));
  assert.deepEqual(next, { messages: [result], whole: false, maxTokens: 3, stop: ["x"] });
});

test("dialogue: what does not repeat the last call and reply, or adds nothing, is whole; replies stay as sampled", () => {
  const sampled: Message = { role: "assistant", content: raw };
  const said = seen('{"item":"a"}');
  const others: readonly (readonly [readonly Message[], readonly Message[]])[] = [
    [
      [user("other"), said, result],
      [user("other"), sampled, result],
    ],
    [
      [user("q"), said],
      [user("q"), sampled],
    ],
    [
      [user("q"), seen('{"item":"b"}'), result],
      [user("q"), seen('{"item":"b"}'), result],
    ],
    [[user("q")], [user("q")]],
    [
      [{ ...user("q"), tools: [{ name: "look", description: "", parameters: {} }] }, said, result],
      [{ ...user("q"), tools: [{ name: "look", description: "", parameters: {} }] }, sampled, result],
    ],
  ];
  for (const [messages, heard] of others) {
    assert.deepEqual(begun().talk.hear(call(messages)), { messages: heard, whole: true });
  }
});

test("dialogue: a second reply on one prompt does not go on from the first", () => {
  const { talk } = begun();
  assert.equal(talk.hear(call([user("q")])).whole, true);
  talk.said({ text: "yes", stop: "eos" }, { message: { role: "assistant", content: "yes" }, finish: "stop" });
  const chosen = [user("q"), { role: "assistant", content: "yes" } as const, user("more")];
  assert.deepEqual(talk.hear(call(chosen)), { messages: [user("more")], whole: false });
});
