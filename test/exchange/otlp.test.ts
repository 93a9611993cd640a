import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { readSpans } from "../../src/exchange/otlp/otlp.ts";
import { assistant, user } from "./served.ts";

/** Spans as @ai-sdk/otel 1.0 exported them with @opentelemetry/exporter-trace-otlp-http: a call of a tool, and the answer. */
const recorded = (name: string): Json =>
  JSON.parse(readFileSync(join(import.meta.dirname, "spans", `${name}.json`), "utf8")) as Json;

type Attributes = Readonly<Record<string, Json>>;
const any = (value: Json): Json =>
  typeof value === "string"
    ? { stringValue: value }
    : typeof value === "number"
      ? Number.isInteger(value)
        ? { intValue: String(value) }
        : { doubleValue: value }
      : Array.isArray(value)
        ? { arrayValue: { values: value.map(any) } }
        : { kvlistValue: { values: attributes(value as Attributes) } };
const attributes = (given: Attributes): Json[] =>
  Object.entries(given).map(([key, value]) => ({ key, value: any(value) }));

interface Made {
  readonly of?: Attributes;
  /** By name. */
  readonly events?: readonly (readonly [string, Attributes])[];
  readonly parent?: string;
  readonly status?: Json;
}

/** A request with one span for each. */
function request(...spans: readonly Made[]): Json {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": "shop" }) },
        scopeSpans: [
          {
            spans: spans.map(({ of = {}, events = [], parent, status }, i) => ({
              traceId: "t",
              spanId: `s${i}`,
              ...(parent === undefined ? {} : { parentSpanId: parent }),
              ...(status === undefined ? {} : { status }),
              name: "span",
              startTimeUnixNano: `${1_700_000_000_000 + i}000000`,
              endTimeUnixNano: `${1_700_000_000_250 + i}000000`,
              attributes: attributes(of),
              events: events.map(([name, held]) => ({
                name,
                timeUnixNano: "1700000000100000000",
                attributes: attributes(held),
              })),
            })),
          },
        ],
      },
    ],
  };
}
const chat: Attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" };

for (const name of ["ai-sdk", "ai-sdk-legacy"]) {
  test(`spans of the AI SDK's telemetry: ${name}`, () => {
    const read = readSpans(recorded(name), 7);
    assert.ok(read);
    assert.deepEqual(
      read.responses.map(({ id, model, usage, tags }) => [id, model, usage, tags["service.name"]]),
      [
        ["resp-1", "mock-model", { input: 5, output: 3 }, "door"],
        ["resp-2", "mock-model", { input: 5, output: 3 }, "door"],
      ],
    );
    const [first, second] = read.responses;
    assert.equal(first!.session, second!.session);
    const call = { id: "call-1", name: "look", arguments: '{"at":"door"}' };
    const system = { role: "system", content: "Be brief." };
    assert.deepEqual(
      first!.prompt.map(({ tools: _, ...message }) => message),
      [system, user("What colour is the door?")],
    );
    assert.equal(first!.prompt[0]!.tools![0]!.name, "look");
    assert.deepEqual(first!.choices[0]!.message, { ...assistant(""), toolCalls: [call] });
    assert.deepEqual(second!.prompt.slice(2), [
      { ...assistant(""), toolCalls: [call] },
      { role: "tool", content: "a red door", toolCallId: "call-1" },
    ]);
    assert.deepEqual(second!.choices[0]!.message, assistant("It is red."));
    // tools, steps and the agent are no calls of a model
    assert.ok(read.others > 0);
  });
}

const forms: Readonly<Record<string, Made>> = {
  "structured values": {
    of: {
      ...chat,
      "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "hello" }] }],
      "gen_ai.output.messages": [
        {
          role: "assistant",
          parts: [
            { type: "reasoning", content: "hm" },
            { type: "text", content: "good day" },
          ],
        },
      ],
    },
  },
  "the event with details": {
    of: chat,
    events: [
      [
        "gen_ai.client.inference.operation.details",
        {
          "gen_ai.input.messages": JSON.stringify([
            { role: "user", parts: [{ type: "text", content: "hello" }] },
          ]),
          "gen_ai.output.messages": JSON.stringify([
            { role: "assistant", parts: [{ type: "text", content: "good day" }] },
          ]),
        },
      ],
    ],
  },
  "events by role": {
    of: chat,
    events: [
      ["gen_ai.user.message", { content: "hello" }],
      [
        "gen_ai.choice",
        { index: 0, finish_reason: "stop", message: JSON.stringify({ content: "good day" }) },
      ],
    ],
  },
  "events of prompt and completion": {
    of: chat,
    events: [
      ["gen_ai.content.prompt", { "gen_ai.prompt": JSON.stringify([{ role: "user", content: "hello" }]) }],
      [
        "gen_ai.content.completion",
        { "gen_ai.completion": JSON.stringify([{ role: "assistant", content: "good day" }]) },
      ],
    ],
  },
  "numbered attributes": {
    of: {
      "gen_ai.system": "openai",
      "gen_ai.request.model": "m",
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "hello",
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.content": "good day",
      "gen_ai.completion.0.finish_reason": "stop",
    },
  },
};
for (const [name, span] of Object.entries(forms)) {
  test(`content as ${name}`, () => {
    const [response] = readSpans(request(span), 7)!.responses;
    assert.deepEqual(response!.prompt, [user("hello")]);
    assert.deepEqual(response!.choices, [{ message: assistant("good day"), stop: "eos" }]);
    assert.deepEqual([response!.at, response!.ms], [1_700_000_000_000, 250]);
    assert.deepEqual([response!.session, response!.id], ["t", "t/s0"]);
  });
}

test("a role that nobody knows is a user's, also where every object has something of its name", () => {
  const asked = JSON.stringify([
    { role: "constructor", content: "hello" },
    { role: "critic", content: "there" },
  ]);
  const [response] = readSpans(request({ of: { ...chat, "gen_ai.input.messages": asked } }), 7)!.responses;
  assert.deepEqual(response!.prompt, [
    { role: "user", content: "hello" },
    { role: "user", content: "there" },
  ]);
});

test("numbered calls of tools", () => {
  const of = {
    "gen_ai.request.model": "m",
    "gen_ai.prompt.0.content": "hello",
    "gen_ai.completion.0.tool_calls.0.id": "c",
    "gen_ai.completion.0.tool_calls.0.name": "look",
    "gen_ai.completion.0.tool_calls.0.arguments": '{"at":1}',
  };
  const [response] = readSpans(request({ of }), 7)!.responses;
  assert.deepEqual(response!.choices[0]!.message.toolCalls, [
    { id: "c", name: "look", arguments: '{"at":1}' },
  ]);
});

test("conversation, user, settings and failure of a call; without content it has none", () => {
  const [response] = readSpans(
    request({
      of: {
        ...chat,
        "gen_ai.conversation.id": "c7",
        "user.id": "ann",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.response.id": "r",
      },
      status: { code: 2, message: "timeout" },
    }),
    7,
  )!.responses;
  assert.deepEqual(response, {
    id: "r",
    session: "c7",
    user: "ann",
    at: 1_700_000_000_000,
    ms: 250,
    model: "m",
    settings: { temperature: 0.5 },
    prompt: [],
    choices: [],
    status: "failed",
    error: "timeout",
    tags: { "otlp.span": "t/s0", "service.name": "shop" },
  });
});

test("evaluations are signals: on their span, below it, by the response they name, else on the session", () => {
  const evaluation = (more: Attributes): readonly [string, Attributes] => [
    "gen_ai.evaluation.result",
    { "gen_ai.evaluation.name": "Relevance", ...more },
  ];
  const read = readSpans(
    request(
      {
        of: { ...chat, "gen_ai.response.id": "r" },
        events: [
          evaluation({ "gen_ai.evaluation.score.value": 0.75, "gen_ai.evaluation.explanation": "close" }),
        ],
      },
      { of: { "gen_ai.evaluation.name": "Tone", "gen_ai.evaluation.score.label": "rude" }, parent: "s0" },
      { events: [evaluation({ "gen_ai.evaluation.score.value": 1, "gen_ai.response.id": "earlier" })] },
      {
        events: [evaluation({ "gen_ai.evaluation.score.value": 0 }), evaluation({ "error.type": "timeout" })],
      },
    ),
    7,
  )!;
  assert.deepEqual(
    read.signals.map(({ kind, channel, value, text, about }) => [kind, channel, value, text, about[0]]),
    [
      ["score", "Relevance", 0.75, "close", { response: "r" }],
      ["reaction", "Tone", undefined, "rude", { response: "r" }],
      ["score", "Relevance", 1, undefined, { response: "earlier" }],
      ["score", "Relevance", 0, undefined, { session: "t" }],
    ],
  );
  assert.equal(new Set(read.signals.map(({ key }) => key)).size, 4);
  assert.equal(read.others, 2);
});

test("numbers that are none say nothing, and keep nothing else from being stored", () => {
  const of = {
    ...chat,
    "gen_ai.evaluation.name": "e",
    "gen_ai.evaluation.score.value": Number.POSITIVE_INFINITY,
  };
  const { responses, signals } = readSpans(request({ of }), 7)!;
  assert.deepEqual([responses.length, signals], [1, []]);
  const counted = { ...chat, "gen_ai.usage.input_tokens": Number.NaN, "gen_ai.usage.output_tokens": 3 };
  assert.equal(readSpans(request({ of: counted }), 7)!.responses[0]!.usage, undefined);
});

test("what is no request of an exporter is said to be none", () => {
  for (const body of [null, [], {}, { resourceSpans: 1 }, { resourceLogs: [] }] as const) {
    assert.equal(readSpans(body, 7), undefined);
  }
  const odd = {
    resourceSpans: [
      null,
      { scopeSpans: [{ spans: [1, {}, { traceId: "t", spanId: "s", attributes: "x", events: [null] }] }] },
    ],
  };
  assert.deepEqual(readSpans(odd, 7), {
    responses: [],
    signals: [],
    traced: [],
    others: 0,
    malformed: 4,
    wrong: "resourceSpans.0: expected an object with a resource and a list of scopeSpans",
  });
});

test("of each span that is none it is said why", () => {
  const good = { traceId: "t", spanId: "s", startTimeUnixNano: "1", endTimeUnixNano: 2 };
  const cases: readonly (readonly [JsonObject, RegExp | undefined])[] = [
    [{}, undefined],
    [{ traceId: "" }, /expected a traceId and a spanId/],
    [{ spanId: 7 }, /expected a traceId and a spanId/],
    [{ traceId: "t".repeat(201) }, /up to 200 characters/],
    [{ startTimeUnixNano: "soon" }, /expected startTimeUnixNano/],
    [{ endTimeUnixNano: "9".repeat(1_000_000) }, /expected startTimeUnixNano/],
    [{ attributes: { a: 1 } }, /attributes: expected a list/],
    [{ attributes: [{ value: 1 }] }, /attributes\.0: expected an object with a key/],
    [{ events: {} }, /events: expected a list/],
    [{ events: [{ timeUnixNano: "x" }] }, /events\.0: expected an object with its timeUnixNano/],
    [{ events: [{ attributes: [1] }] }, /events\.0\.attributes\.0/],
  ];
  for (const [wrong, why] of cases) {
    const read = readSpans({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...good, ...wrong }] }] }] }, 7);
    assert.equal(read?.malformed, why ? 1 : 0, JSON.stringify(wrong).slice(0, 100));
    if (why) assert.match(read?.wrong ?? "", why);
  }
});

test("a message in seventy thousand attributes is read in time that grows with them", () => {
  const parts = Array.from({ length: 70_000 }, (_, k) => [`gen_ai.prompt.0.tool_calls.0.x${k}`, "v"]);
  const of = { ...chat, ...Object.fromEntries(parts), "gen_ai.prompt.0.tool_calls.0.name": "f" };
  const began = process.cpuUsage();
  const [response] = readSpans(request({ of }), 7)!.responses;
  const { user, system } = process.cpuUsage(began);
  assert.equal(response?.prompt[0]?.toolCalls?.[0]?.name, "f");
  assert.ok((user + system) / 1000 < 3000, `${(user + system) / 1000} ms`);
});

const sessionsBy: Readonly<Record<string, Attributes>> = {
  "the GenAI conventions": { "gen_ai.conversation.id": "chat-7", "enduser.id": "ann" },
  "OpenTelemetry and OpenInference": { "session.id": "chat-7", "user.id": "ann" },
  "the AI SDK's metadata, up to version 6": {
    "ai.telemetry.metadata.sessionId": "chat-7",
    "ai.telemetry.metadata.userId": "ann",
  },
  "the AI SDK's runtime context, from version 7": {
    "ai.settings.context.sessionId": "chat-7",
    "ai.settings.context.userId": "ann",
  },
  "OpenLLMetry's association properties": {
    "traceloop.association.properties.thread_id": "chat-7",
    "traceloop.association.properties.user_id": "ann",
  },
  Langfuse: { "langfuse.session.id": "chat-7", "langfuse.user.id": "ann" },
};
for (const [name, stated] of Object.entries(sessionsBy)) {
  test(`session and user by ${name}: on the call, above it, or elsewhere in its trace`, () => {
    const whoseIs = (...spans: readonly Made[]) =>
      readSpans(request(...spans), 7)!.responses.map(({ session, user }) => [session, user]);
    assert.deepEqual(whoseIs({ of: { ...chat, ...stated } }), [["chat-7", "ann"]]);
    assert.deepEqual(whoseIs({ of: stated }, { parent: "s0" }, { of: chat, parent: "s1" }), [
      ["chat-7", "ann"],
    ]);
    assert.deepEqual(whoseIs({ of: chat }, { of: stated }), [["chat-7", "ann"]]);
    assert.deepEqual(whoseIs({ of: chat }), [["t", undefined]]);
    // what a call states itself comes first; parents that lead to themselves are no ancestors
    const own = { ...chat, "gen_ai.conversation.id": "own", "enduser.id": "bob" };
    assert.deepEqual(whoseIs({ of: stated, parent: "s1" }, { of: own, parent: "s0" }), [["own", "bob"]]);
    assert.deepEqual(whoseIs({ of: chat, parent: "s1" }, { parent: "s0" }), [["t", undefined]]);
  });
}

test("spans of thousands of levels, and parents in a circle, are read in one pass", () => {
  const n = 9000;
  const deep = Array.from({ length: n }, (_, i): Made => ({ of: chat, parent: `s${i + 2}` }));
  const first: Made = { of: { "gen_ai.conversation.id": "other" } };
  const top: Made = { of: { "gen_ai.conversation.id": "chat-7" } };
  const circle = deep.map((made, i): Made => ({ ...made, parent: `s${(i + 1) % n}` }));
  const timed = (...spans: readonly Made[]): readonly [ms: number, sessions: readonly string[]] => {
    const sent = request(...spans);
    const begun = performance.now();
    const { responses } = readSpans(sent, 7)!;
    return [performance.now() - begun, [...new Set(responses.map(({ session }) => session))]];
  };
  const [usual] = timed(...deep.map(({ of }): Made => ({ of: of! })));
  // the nearest ancestor that states a session comes before any other span
  const [deepMs, deepSessions] = timed(first, ...deep, top);
  const [circleMs, circleSessions] = timed(...circle);
  assert.deepEqual([deepSessions, circleSessions], [["chat-7"], ["t"]]);
  for (const ms of [deepMs, circleMs])
    assert.ok(ms < 5 * usual + 1000, `${ms} ms, ${usual} ms without parents`);
});

test("OpenLLMetry's older attributes: numbered messages and functions; embeddings and reranks are no calls", () => {
  const read = readSpans(
    request(
      {
        of: {
          "llm.request.type": "chat",
          "gen_ai.request.model": "m",
          "gen_ai.prompt.0.role": "user",
          "gen_ai.prompt.0.content": "hello",
          "gen_ai.completion.0.role": "assistant",
          "gen_ai.completion.0.tool_calls.0.id": "call-1",
          "gen_ai.completion.0.tool_calls.0.name": "look",
          "gen_ai.completion.0.tool_calls.0.arguments": '{"at":"door"}',
          "gen_ai.usage.prompt_tokens": 5,
          "gen_ai.usage.completion_tokens": 3,
          "llm.request.functions.0.name": "look",
          "llm.request.functions.0.description": "look at a thing",
          "llm.request.functions.0.parameters": '{"type":"object","properties":{"at":{"type":"string"}}}',
        },
      },
      { of: { "llm.request.type": "embedding", "gen_ai.request.model": "e" } },
      { of: { "llm.request.type": "rerank", "gen_ai.request.model": "r" } },
      { of: { "traceloop.span.kind": "workflow", "gen_ai.request.model": "m" } },
    ),
    7,
  )!;
  assert.equal(read.others, 3);
  const [{ prompt, choices, usage }] = read.responses as [(typeof read.responses)[0]];
  const parameters = { type: "object", properties: { at: { type: "string" } } };
  assert.deepEqual(
    prompt.flatMap(({ tools = [] }) => tools),
    [{ name: "look", description: "look at a thing", parameters }],
  );
  assert.deepEqual(choices[0]!.message.toolCalls, [
    { id: "call-1", name: "look", arguments: '{"at":"door"}' },
  ]);
  assert.deepEqual(usage, { input: 5, output: 3 });
});

test("OpenInference: parts of a message, documents of a retriever and a reranker, names made to be slow", () => {
  const documents = (prefix: string): Attributes => ({
    [`${prefix}.0.document.content`]: "doors are red",
    [`${prefix}.1.document.content`]: "windows are blue",
    [`${prefix}.1.document.score`]: 0.5,
  });
  const read = readSpans(
    request(
      {
        of: {
          "openinference.span.kind": "LLM",
          "llm.model_name": "m",
          "llm.input_messages.0.message.role": "user",
          "llm.input_messages.0.message.contents.0.message_content.type": "text",
          "llm.input_messages.0.message.contents.0.message_content.text": "hello ",
          "llm.input_messages.0.message.contents.1.message_content.type": "text",
          "llm.input_messages.0.message.contents.1.message_content.text": "there",
          "llm.input_messages.0.message.contents.2.message_content.type": "image",
          [`llm.input_messages.${"9.".repeat(5000)}x`]: "deep",
          "llm.output_messages.0.message.role": "assistant",
          "llm.output_messages.0.message.content": "good day",
          "llm.finish_reason": "length",
        },
      },
      {
        of: {
          "openinference.span.kind": "RETRIEVER",
          "input.value": "red",
          ...documents("retrieval.documents"),
        },
      },
      { of: { "openinference.span.kind": "RERANKER", ...documents("reranker.output_documents") } },
      { of: { "openinference.span.kind": "CHAIN", "llm.model_name": "m" } },
    ),
    7,
  )!;
  assert.deepEqual(read.responses[0]!.prompt, [user("hello there")]);
  assert.deepEqual(read.responses[0]!.choices, [{ message: assistant("good day"), stop: "length" }]);
  assert.deepEqual(
    read.traced.map(({ kind, input, output }) => [kind, input, JSON.parse(output!).length]),
    [
      ["retrieval", "red", 2],
      ["retrieval", undefined, 2],
    ],
  );
  assert.equal(read.others, 1);
});
