import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Completion,
  completionBody,
  replyEvents,
  replyOf,
  shownSoFar,
} from "../../../src/env/agent/reply.ts";
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
    usage: {
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 0 },
    },
    prompt_token_ids: [1, 2, 3],
  });
});

/** Every reply begins with what is shown of it at any time before. */
function shownThroughout(call: ChatCall, text: string, stop: Completion["stop"] = "eos"): string[] {
  const { content } = reply(call, completion(text, { stop })).message;
  return Array.from(text, (_, i) => {
    const shown = shownSoFar(call, text.slice(0, i + 1));
    assert.ok(content.startsWith(shown), `${JSON.stringify(shown)} of ${JSON.stringify(content)}`);
    return shown;
  });
}

test("shownSoFar: nothing that turns out to be a stop string, a call, or blanks around one", () => {
  assert.deepEqual(shownThroughout(asked(), "a b"), ["a", "a ", "a b"]);
  const stops = asked({ stop: ["END", "."] });
  assert.deepEqual(shownThroughout(stops, "aEbEND", "stop"), ["a", "a", "aEb", "aEb", "aEb", "aEb"]);
  const call = asked({ tools });
  const calls = "<function=wait> </function>";
  assert.equal(shownThroughout(call, `well then ${calls} now`).at(-1), "well then");
  assert.equal(shownThroughout(call, "1 < 2 and <b>").at(-1), "1 < 2 and <b>");
  for (const text of [
    ` a ${calls}`,
    calls,
    '{"name": "wait", "parameters": {}}',
    " a",
    `a ${calls} <function`,
  ]) {
    shownThroughout(call, text);
  }
  for (const more of [{ logprobs: true }, { return_token_ids: true }]) {
    assert.equal(shownThroughout(asked(more), "a b").at(-1), "", "exact tokens come with the whole reply");
  }
  assert.equal(shownThroughout(asked({ response_format: { type: "json_object" } }), '{"a": 1}').at(-1), "");
});

test("replyEvents: texts as they grow, then the rest alone", () => {
  const call = asked({ stream: true, n: 2, stop: ["END"] });
  const events = replyEvents(call, envelope);
  const deltas = (text: string) =>
    [...text.matchAll(/data: (\{.*\})/g)].map(([, json]) => {
      const { index, delta, finish_reason } = JSON.parse(json!).choices[0];
      return [index, delta.content ?? finish_reason];
    });
  assert.equal(events.written(["", ""]), "");
  assert.deepEqual(deltas(events.written(["a", ""])), [
    [0, ""],
    [0, "a"],
  ]);
  assert.equal(events.written(["aE", ""]), "");
  assert.deepEqual(deltas(events.written(["aEb", "c"])), [
    [0, "Eb"],
    [1, ""],
    [1, "c"],
  ]);
  const made = [completion("aEb d"), completion("cEND", { stop: "stop" })];
  assert.deepEqual(deltas(events.ended(made.map((one) => [one, reply(call, one)]))), [
    [0, " d"],
    [0, "stop"],
    [1, "stop"],
  ]);
});

test("replyEvents: each reply begun, said and ended, then usage and the end", () => {
  const call = asked({ tools, stream: true, stream_options: { include_usage: true } });
  const made = completion("well <function=wait> </function>", { sampled });
  const events = replyEvents(call, envelope)
    .ended([[made, reply(call, made)]])
    .split("\n\n");
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
  assert.deepEqual(chunks.at(-1).usage, {
    prompt_tokens: 3,
    completion_tokens: 2,
    total_tokens: 5,
    prompt_tokens_details: { cached_tokens: 0 },
  });
});
