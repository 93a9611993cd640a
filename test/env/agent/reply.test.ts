import assert from "node:assert/strict";
import { test } from "node:test";
import { type Completion, completionBody, eventStream, replyOf } from "../../../src/env/agent/reply.ts";
import type { ChatCall } from "../../../src/env/agent/request.ts";
import { asked, tools } from "./asked.ts";

const completion = (text: string, more: Partial<Completion> = {}): Completion => ({
  text,
  stop: "eos",
  ...more,
});
const reply = (call: ChatCall, made: Completion) => replyOf(call, made, (k) => `id${k}`);

test("replyOf: calls apart from the text, the stop string cut off, one call where one was asked for", () => {
  const two = "<function=wait> </function> <function=look> <parameter=item> a </parameter> </function>";
  const call = asked({ tools });
  assert.deepEqual(reply(call, completion(two)), {
    message: {
      role: "assistant",
      content: "",
      toolCalls: [
        { id: "id0", name: "wait", arguments: "{}" },
        { id: "id1", name: "look", arguments: '{"item":"a"}' },
      ],
    },
    finish: "tool_calls",
  });
  const one = reply(asked({ tools, parallel_tool_calls: false }), completion(two));
  assert.equal(one.message.toolCalls?.length, 1);
  assert.equal(reply(asked(), completion(two)).message.content, two, "no tools, no calls");
  const stopped = reply(asked({ stop: ["END", "."] }), completion("a b. c END", { stop: "stop" }));
  assert.deepEqual([stopped.message.content, stopped.finish], ["a b", "stop"]);
  assert.equal(reply(asked(), completion("a b", { stop: "length" })).finish, "length");
  const given = [{ id: "own", name: "wait", arguments: "{}" }];
  assert.deepEqual(reply(call, completion("", { toolCalls: given })).message.toolCalls, given);
});

test("replyOf: JSON is taken out of what stands around it; where there is none, the text stays", () => {
  const call = asked({ response_format: { type: "json_object" } });
  const texts = [
    '{"a": 1}',
    ' {"a": 1} ',
    'Sure:\n```json\n{"a": 1}\n```\nDone.',
    'It is {"a": 1}, I think.',
  ];
  for (const text of texts) assert.equal(reply(call, completion(text)).message.content, '{"a": 1}');
  assert.equal(reply(call, completion("no {json} here")).message.content, "no {json} here");
});

const sampled = {
  tokens: {
    prompt: Int32Array.of(1, 2, 3),
    action: Int32Array.of(7, 8),
    logp: Float32Array.of(-0.5, -0.25),
    behaviour: Float32Array.of(-0.5, -0.25),
  },
  pieces: () => ["yé", ""],
};
const envelope = { id: "chatcmpl-1", created: 5 };

test("completionBody: OpenAI's form, with exact tokens where they are asked for", () => {
  const call = asked({ logprobs: true, return_token_ids: true });
  const made = completion("yé", { sampled });
  assert.deepEqual(completionBody(call, envelope, [[made, reply(call, made)]]), {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 5,
    model: "m",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "yé", refusal: null },
        finish_reason: "stop",
        logprobs: {
          content: [
            { token: "yé", logprob: -0.5, bytes: [121, 195, 169], top_logprobs: [] },
            { token: "", logprob: -0.25, bytes: [], top_logprobs: [] },
          ],
          refusal: null,
        },
        token_ids: [7, 8],
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    prompt_token_ids: [1, 2, 3],
  });
});

test("eventStream: each reply begun, said and ended, then usage and the end", () => {
  const call = asked({ tools, stream: true, stream_options: { include_usage: true } });
  const made = completion("well <function=wait> </function>", { sampled });
  const events = eventStream(call, envelope, [[made, reply(call, made)]]).split("\n\n");
  assert.equal(events.pop(), "");
  assert.equal(events.pop(), "data: [DONE]");
  const chunks = events.map((e) => JSON.parse(e.replace(/^data: /, "")));
  assert.deepEqual(
    chunks.map((c) => [c.object, c.choices[0]?.delta ?? null, c.choices[0]?.finish_reason ?? null]),
    [
      ["chat.completion.chunk", { role: "assistant", content: "" }, null],
      ["chat.completion.chunk", { content: "well" }, null],
      [
        "chat.completion.chunk",
        {
          tool_calls: [
            { index: 0, id: "id0", type: "function", function: { name: "wait", arguments: "{}" } },
          ],
        },
        null,
      ],
      ["chat.completion.chunk", {}, "tool_calls"],
      ["chat.completion.chunk", null, null],
    ],
  );
  assert.deepEqual(chunks.at(-1).usage, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
});
