import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalBody } from "../../../src/env/agent/reply.ts";
import { isRefusal, readRequest } from "../../../src/env/agent/request.ts";
import { asked, tools } from "./asked.ts";

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
  const plain = { model: "m", messages: [{ role: "user", content: "a" }] };
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
    [{ ...plain, stop: "x".repeat(257) }, /stop: .*<=256 characters/],
    [{ ...plain, stop: new Array(65).fill("x") }, /stop: expected a text of .* at most 64/],
    [
      { model: "m", messages: new Array(1000).fill({ role: "robot" }) },
      /^messages\.0\.role: .{1,1500}; and 990 more\. Send/,
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
