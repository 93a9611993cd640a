import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ChatCall,
  type Completion,
  completionBody,
  eventStream,
  isRefusal,
  readRequest,
  refusalBody,
  replyOf,
} from "../../../src/env/agent/openai.ts";

const asked = (more: object = {}): ChatCall => {
  const call = readRequest({ model: "m", messages: [{ role: "user", content: "hi" }], ...more });
  if (isRefusal(call)) throw new Error(call.message);
  return call;
};
const tools = [
  { type: "function", function: { name: "look", parameters: { properties: { item: { type: "string" } } } } },
  { type: "function", function: { name: "wait" } },
];
const completion = (text: string, more: Partial<Completion> = {}): Completion => ({
  text,
  stop: "eos",
  ...more,
});
const reply = (call: ChatCall, made: Completion) => replyOf(call, made, (k) => `id${k}`);

test("readRequest: messages, roles and parts in our words", () => {
  const { messages } = asked({
    messages: [
      { role: "developer", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
        name: "ann",
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "look", arguments: "{" } }],
      },
      { role: "tool", tool_call_id: "1", content: "door" },
    ],
  });
  assert.deepEqual(messages, [
    { role: "system", content: "be brief" },
    { role: "user", content: "ab", name: "ann" },
    { role: "assistant", content: "", toolCalls: [{ id: "1", name: "look", arguments: "{" }] },
    { role: "tool", content: "door", toolCallId: "1" },
  ]);
});

test("readRequest: options, with the newer name of a limit before the older", () => {
  const call = asked({
    max_tokens: 9,
    max_completion_tokens: 5,
    temperature: 0.5,
    top_p: 0.9,
    seed: 3,
    stop: "end",
    n: 2,
    stream: true,
    stream_options: { include_usage: true },
    logprobs: true,
    unheard_of: 1,
  });
  const { messages, ...rest } = call;
  assert.deepEqual(rest, {
    model: "m",
    tools: [],
    n: 2,
    maxTokens: 5,
    temperature: 0.5,
    topP: 0.9,
    seed: 3,
    stop: ["end"],
    stream: true,
    includeUsage: true,
    logprobs: true,
    tokenIds: false,
    oneCall: false,
    json: false,
  });
  assert.deepEqual(asked({ temperature: null, stop: ["a", "b"] }).stop, ["a", "b"]);
});

test("readRequest: tools stand on the first message; tool_choice narrows what is offered", () => {
  const look = { name: "look", description: "", parameters: { properties: { item: { type: "string" } } } };
  const wait = { name: "wait", description: "", parameters: { type: "object", properties: {} } };
  assert.deepEqual(asked({ tools }).messages, [
    { role: "system", content: "", tools: [look, wait] },
    { role: "user", content: "hi" },
  ]);
  const system = { role: "system", content: "be brief" };
  assert.deepEqual(asked({ tools, messages: [system] }).messages, [{ ...system, tools: [look, wait] }]);
  assert.deepEqual(asked({ tools, tool_choice: "none" }).messages, [{ role: "user", content: "hi" }]);
  const named = { type: "function", function: { name: "wait" } };
  assert.deepEqual(asked({ tools, tool_choice: named }).tools, [wait]);
  assert.deepEqual(asked({ tools, tool_choice: "required" }).tools, [look, wait]);
});

test("readRequest: a schema is shown to the policy", () => {
  const format = { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } };
  assert.deepEqual(asked({ response_format: format }).messages, [
    { role: "system", content: 'Reply with JSON alone, of this schema: {"type":"object"}' },
    { role: "user", content: "hi" },
  ]);
  assert.equal(asked({ response_format: { type: "text" } }).json, false);
  assert.equal(asked({ response_format: { type: "json_object" } }).json, true);
});

test("readRequest refuses what it cannot do, and says where", () => {
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /body/],
    [{ model: "m", messages: [] }, /messages/],
    [{ model: "m", messages: [{ role: "robot", content: "" }] }, /messages\.0\.role/],
    [
      { model: "m", messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      /messages\.0\.content: .*images/,
    ],
    [{ model: "m", messages: [{ role: "user", content: "a" }], temperature: 3 }, /temperature/],
    [{ model: "m", messages: [{ role: "user", content: "a" }], n: 0 }, /n: /],
    [
      {
        model: "m",
        messages: [{ role: "user", content: "a" }],
        tools: [{ type: "function", function: { name: "a b" } }],
      },
      /tools\.0\.function\.name/,
    ],
  ];
  for (const [body, message] of wrong) {
    const refusal = readRequest(body);
    assert.ok(isRefusal(refusal));
    assert.equal(refusal.status, 400);
    assert.match(refusal.message, message);
    const { error } = JSON.parse(JSON.stringify(refusalBody(refusal)));
    assert.deepEqual(Object.keys(error).sort(), ["code", "message", "param", "type"]);
  }
});

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
