// Responses, messages and embeddings through the gateway: what the upstream gets, what the client gets, what is recorded.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import OpenAI from "openai";
import { gate } from "../../../src/serve/auth.ts";
import { mintKey } from "../../../src/serve/keys.ts";
import { type Body, idOf, jsonHead, messageTo, reply, responseTo, typed, wire } from "./providers.ts";
import { before, world } from "./world.ts";

let answers = 0;
/** Cuts the next stream after so many events. */
let cutAfter: number | undefined;
/** What the upstream last wrote, whole or streamed. */
let wrote = "";
const paths: string[] = [];
const at = await before((body, response, request) => {
  paths.push(request.url ?? "");
  const [path] = (request.url ?? "").split("?");
  if (body.model === "wrong") {
    wrote = '{"type":"error","error":{"type":"not_found_error","message":"no such model"}}';
    return response.writeHead(404, jsonHead).end(wrote);
  }
  if (path === "/v1/embeddings") {
    wrote =
      '{"object":"list", "data":[{"object":"embedding","index":0,"embedding":[0.5,-1]}],"model":"e","usage":{"prompt_tokens":2,"total_tokens":2}}';
    return response.writeHead(200, jsonHead).end(wrote);
  }
  if (path === "/v1/messages/count_tokens")
    return response.writeHead(200, jsonHead).end('{"input_tokens":4}');
  const { whole, events } = (path === "/v1/responses" ? responseTo : messageTo)(body, ++answers);
  wrote = body.stream === true ? wire(events) : JSON.stringify(whole, null, 1);
  reply(response, whole, body.stream === true ? events : undefined, cutAfter);
  cutAfter = undefined;
});
after(() => at.close());

const post = (path: string, body: Body, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${at.url}${path}`, {
    method: "POST",
    headers: { ...typed, ...headers },
    body: JSON.stringify(body),
  });
const last = () => at.responses.at(-1)!;
const tool = { type: "function", name: "look", description: "Looks up.", parameters: { type: "object" } };

test("embeddings are passed on byte for byte, counted and not recorded", async () => {
  const [records, { unrecorded, calls }] = [at.responses.length, at.state()];
  const answer = await post(
    "/v1/embeddings",
    { model: "e", input: ["a b"] },
    { authorization: "Bearer sk-x" },
  );
  assert.equal(answer.status, 200);
  assert.equal(await answer.text(), wrote);
  assert.equal(answer.headers.get("x-whetstone-version"), "main");
  assert.deepEqual(at.upstream.asked.at(-1), { model: "e", input: ["a b"] });
  assert.equal(at.upstream.headers.at(-1)!.authorization, "Bearer sk-x");
  const made = await new OpenAI({ baseURL: `${at.url}/v1`, apiKey: "k" }).embeddings.create({
    model: "e",
    input: "a b",
    encoding_format: "float",
  });
  assert.deepEqual(made.data[0]!.embedding, [0.5, -1]);
  const refused = await post("/v1/embeddings", { model: "wrong", input: "a" });
  assert.equal(refused.status, 404);
  assert.equal(await refused.text(), wrote);
  assert.equal(at.state().unrecorded, unrecorded + 3);
  assert.equal(at.state().calls, calls);
  assert.equal(at.state().running, 0);
  assert.equal(at.responses.length, records);
});

for (const stream of [false, true]) {
  const how = stream ? "streamed" : "whole";

  test(`a response is passed on byte for byte and recorded under its own id, ${how}`, async () => {
    const metadata = { plan: "pro", "whetstone.cut": "mine" };
    const body = {
      model: "m",
      instructions: "Be kind.",
      input: "Hello",
      stream,
      metadata,
      temperature: 0.5,
      store: true,
    };
    const answer = await post("/session/r1/v1/responses", body);
    assert.equal(await answer.text(), wrote);
    assert.deepEqual(at.upstream.asked.at(-1), body);
    const { id, session, prompt, choices, usage, status, settings, tags } = last();
    assert.equal(id, idOf("resp", answers));
    assert.equal(answer.headers.get("x-whetstone-response"), id);
    assert.equal(session, "r1");
    assert.deepEqual(prompt, [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Hello" },
    ]);
    assert.deepEqual(choices, [{ message: { role: "assistant", content: `Grüße ${answers}` }, stop: "eos" }]);
    assert.deepEqual(usage, { input: 11, output: 7 });
    assert.equal(status, "complete");
    assert.deepEqual(settings, { stream, temperature: 0.5, store: true });
    assert.equal(tags.plan, "pro");
    assert.notEqual(tags["whetstone.cut"], "mine");
  });

  test(`openai's client makes an episode by previous_response_id that is one trajectory, ${how}`, async () => {
    const client = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: "k", maxRetries: 0 });
    const from = at.responses.length;
    const tools: OpenAI.Responses.Tool[] = [{ ...tool, type: "function", strict: false }];
    const ask = async (body: {
      readonly input: string | OpenAI.Responses.ResponseInput;
      readonly previous_response_id?: string;
    }) =>
      stream
        ? await client.responses.stream({ model: "m", tools, ...body }).finalResponse()
        : await client.responses.create({ model: "m", tools, ...body });
    const first = await ask({ input: `What is it? ${how}` });
    const call = first.output.find(({ type }) => type === "function_call");
    assert.ok(call?.type === "function_call");
    const second = await ask({
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "CAT" }],
    });
    assert.equal(second.output_text, `Grüße ${answers}`);
    const made = at.responses.slice(from);
    assert.deepEqual(
      made.map(({ id, turn, trajectory }) => [id, turn, trajectory]),
      [first.id, second.id].map((id, turn) => [id, turn, made[0]!.trajectory]),
    );
    assert.deepEqual(
      made[0]!.prompt[0]!.tools?.map(({ name }) => name),
      ["look"],
    );
    assert.deepEqual(made[0]!.choices[0]!.message.toolCalls, [
      { id: "call_1", name: "look", arguments: '{"word":"cat"}' },
    ]);
    assert.deepEqual(
      made[1]!.prompt.map(({ role, content }) => [role, content]),
      [
        ["system", ""],
        ["user", `What is it? ${how}`],
        ["assistant", ""],
        ["tool", "CAT"],
      ],
    );
  });

  test(`a response continues one whose items it repeats or names, ${how}`, async () => {
    const from = at.responses.length;
    const tools = [tool];
    const ask = { role: "user", content: [{ type: "input_text", text: `Repeat. ${how}` }] };
    await (await post("/v1/responses", { model: "m", tools, input: [ask], stream })).text();
    const items = [
      { type: "reasoning", id: idOf("rs", answers), summary: [] },
      { type: "item_reference", id: idOf("fc", answers) },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "CAT" }] },
    ];
    await (await post("/v1/responses", { model: "m", tools, input: [ask, ...items], stream })).text();
    const made = at.responses.slice(from);
    assert.deepEqual(
      made.map(({ turn, session }) => [turn, session]),
      [
        [0, made[0]!.session],
        [1, made[0]!.session],
      ],
    );
  });

  test(`a message is passed on byte for byte and recorded under its own id, ${how}`, async () => {
    const from = at.responses.length;
    const system = [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }];
    const tools = [{ name: "look", description: "Looks up.", input_schema: { type: "object" } }];
    const first = {
      role: "user",
      content: [{ type: "text", text: `Hi ${how}`, cache_control: { type: "ephemeral" } }],
    };
    const body = { model: "m", max_tokens: 9, system, tools, messages: [first], stream };
    const headers = { "x-api-key": "sk-ant-1", "anthropic-version": "2023-06-01", "anthropic-beta": "b" };
    const answer = await post("/v1/messages?beta=true", body, headers);
    assert.equal(await answer.text(), wrote);
    assert.equal(paths.at(-1), "/v1/messages?beta=true");
    const sent = at.upstream.headers.at(-1)!;
    assert.deepEqual(
      [sent["x-api-key"], sent["anthropic-version"], sent["anthropic-beta"]],
      Object.values(headers),
    );
    assert.equal(answer.headers.get("x-whetstone-response"), idOf("msg", answers));
    const said = [
      { type: "thinking", thinking: "…", signature: "s" },
      { type: "text", text: `Grüße ${answers}` },
      { type: "tool_use", id: "toolu_1", name: "look", input: { word: "cat" } },
    ];
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "CAT" }] };
    const messages = [
      { role: "user", content: `Hi ${how}` },
      { role: "assistant", content: said },
      { role: "user", content: [result, { type: "text", text: "So?" }] },
    ];
    await (await post("/v1/messages", { ...body, messages }, headers)).text();
    const [one, two] = at.responses.slice(from);
    assert.equal(one!.id, answer.headers.get("x-whetstone-response"));
    assert.deepEqual(one!.usage, { input: 11, output: 7 });
    assert.equal(one!.choices[0]!.stop, "eos");
    assert.deepEqual(
      one!.choices[0]!.message.toolCalls?.map(({ name, arguments: given }) => [name, JSON.parse(given)]),
      [["look", { word: "cat" }]],
    );
    assert.deepEqual(
      one!.prompt[0]!.tools?.map(({ name }) => name),
      ["look"],
    );
    assert.deepEqual(one!.settings, { max_tokens: 9, stream });
    assert.deepEqual([two!.trajectory, two!.turn, two!.status], [one!.trajectory, 1, "complete"]);
    assert.deepEqual(
      two!.prompt.map(({ role, content }) => [role, content]),
      [
        ["system", "Be kind."],
        ["user", `Hi ${how}`],
        ["assistant", one!.choices[0]!.message.content],
        ["tool", "CAT"],
        ["user", "So?"],
      ],
    );
  });

  test(`an upstream's error reaches the client as it is, and is recorded as failed, ${how}`, async () => {
    for (const path of ["/v1/responses", "/v1/messages"]) {
      const answer = await post(path, { model: "wrong", input: "x", messages: [], stream });
      assert.equal(answer.status, 404);
      assert.equal(await answer.text(), wrote);
      assert.equal(last().status, "failed");
      assert.equal(last().error, "HTTP 404: no such model");
    }
  });
}

test("a stream that breaks off is broken for the client too, and recorded as cut", async () => {
  for (const [path, events] of [
    ["/v1/responses", 7],
    ["/v1/messages", 4],
  ] as const) {
    cutAfter = events;
    const body = { model: "m", input: "Break", messages: [{ role: "user", content: "Break" }], stream: true };
    await assert.rejects((await post(path, body)).text());
    await at.recorded(at.responses.length);
    const { status, choices, id } = last();
    assert.deepEqual([status, choices[0]?.message.content, choices[0]?.stop], ["cut", "Grüße", "cut"]);
    assert.match(id, /^(resp|msg)_0+\d+$/);
  }
});

test("of two answers with one id, and of one with a short id, the gateway's ids are recorded", async () => {
  const same = await before((_, response) => {
    const id = same.upstream.asked.length < 3 ? idOf("resp", 1) : "resp_7";
    const output = [{ type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] }];
    const incomplete_details = { reason: "max_output_tokens" };
    response
      .writeHead(200, jsonHead)
      .end(JSON.stringify({ id, object: "response", status: "incomplete", incomplete_details, output }));
  });
  try {
    const heads: (string | null)[] = [];
    for (let n = 0; n < 3; n++) {
      const answer = await fetch(`${same.url}/v1/responses`, {
        method: "POST",
        headers: typed,
        body: JSON.stringify({ input: "x" }),
      });
      await answer.text();
      heads.push(answer.headers.get("x-whetstone-response"));
    }
    const ids = same.responses.map(({ id }) => id);
    assert.deepEqual(heads, ids);
    assert.equal(new Set(ids).size, 3);
    assert.equal(ids[0], idOf("resp", 1));
    assert.deepEqual(same.responses[2]!.choices, [
      { message: { role: "assistant", content: "No." }, stop: "length" },
    ]);
    assert.equal(same.responses[2]!.tags["whetstone.upstream"], "resp_7");
  } finally {
    await same.close();
  }
});

test("errors in the middle of a stream are recorded, with what was said before", async () => {
  const overloaded = { type: "overloaded_error", message: "Overloaded" };
  const failing = await before((_, response, request) => {
    const isResponse = request.url === "/v1/responses";
    const { events } = (isResponse ? responseTo : messageTo)({}, ++answers);
    const error = { code: "server_error", message: "Overloaded" };
    const end = isResponse
      ? {
          type: "response.failed",
          response: { id: idOf("resp", answers), status: "failed", output: [], error },
        }
      : { type: "error", error: overloaded };
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(wire([...events.slice(0, isResponse ? 7 : 4), end]));
  });
  try {
    for (const path of ["/v1/responses", "/v1/messages"]) {
      const body = JSON.stringify({ input: "x", messages: [{ role: "user", content: "x" }], stream: true });
      assert.match(
        await (await fetch(`${failing.url}${path}`, { method: "POST", headers: typed, body })).text(),
        /Overloaded/,
      );
      const { status, error, choices } = failing.responses.at(-1)!;
      assert.deepEqual([status, error, choices[0]?.message.content], ["cut", "Overloaded", "Grüße"]);
    }
    assert.ok(failing.lines.every((line) => !line.includes("Overloaded")));
  } finally {
    await failing.close();
  }
});

test("the new calls need keys of scope chat, as a bearer token or in x-api-key, and narrowed keys stay narrow", async () => {
  const production = { keys: async () => keys };
  const now = Date.now();
  const chat = mintKey({ label: "a", scopes: ["chat"] }, now);
  const read = mintKey({ label: "b", scopes: ["read"] }, now);
  const ann = mintKey({ label: "c", scopes: ["chat"], only: { user: "ann" } }, now);
  const keys = [chat.key, read.key, ann.key];
  const closed = await before(
    (body, response, request) =>
      reply(
        response,
        (request.url?.startsWith("/v1/responses") ? responseTo : messageTo)(body, ++answers).whole,
        undefined,
        undefined,
      ),
    {
      gate: gate({ production, open: false, signing: new Uint8Array(32) }),
      of: { key: "sk-upstream", clientKeys: false },
    },
  );
  const ask = (path: string, headers: Record<string, string>, more: Body = {}): Promise<Response> =>
    fetch(`${closed.url}${path}`, {
      method: "POST",
      headers: { ...typed, ...headers },
      body: JSON.stringify({ model: "m", input: "x", messages: [{ role: "user", content: "x" }], ...more }),
    });
  try {
    const every = ["/v1/responses", "/v1/messages", "/v1/messages/count_tokens", "/v1/embeddings"];
    for (const path of every) {
      assert.equal((await ask(path, {})).status, 401, path);
      assert.equal((await ask(path, { "x-api-key": "sk-ant-1" })).status, 401, path);
      assert.equal((await ask(path, { "x-api-key": read.secret })).status, 403, path);
      const received = closed.upstream.headers.length;
      assert.equal((await ask(path, { authorization: `Bearer ${chat.secret}` })).status, 200, path);
      assert.equal((await ask(path, { "x-api-key": chat.secret })).status, 200, path);
      const [bearer, own] = closed.upstream.headers.slice(received);
      assert.deepEqual([bearer!.authorization, bearer!["x-api-key"]], ["Bearer sk-upstream", undefined]);
      assert.deepEqual([own!.authorization, own!["x-api-key"]], [undefined, "sk-upstream"]);
      const other = { "x-api-key": ann.secret, "x-whetstone-user": "bob" };
      assert.equal((await ask(path, other)).status, 403, path);
      assert.equal((await ask(path, { "x-api-key": ann.secret })).status, 200, path);
    }
    const bobs = await ask("/v1/responses", { "x-api-key": chat.secret, "x-whetstone-user": "bob" });
    const { id } = (await bobs.json()) as { readonly id: string };
    const before = closed.upstream.asked.length;
    const more = { previous_response_id: id };
    assert.equal((await ask("/v1/responses", { "x-api-key": ann.secret }, more)).status, 403);
    assert.equal(closed.upstream.asked.length, before);
    await (await ask("/v1/responses", { "x-api-key": chat.secret }, more)).text();
    const [theirs, continued] = closed.responses.slice(-2);
    assert.deepEqual([continued!.session, continued!.user, continued!.turn], [theirs!.session, "bob", 1]);
    const carols = { "x-api-key": chat.secret, "x-whetstone-user": "carol" };
    await (await ask("/v1/responses", carols, more)).text();
    assert.notEqual(closed.responses.at(-1)!.session, theirs!.session);
    assert.deepEqual(closed.responses.at(-1)!.prompt, [{ role: "user", content: "x" }]);
  } finally {
    await closed.close();
  }
});

test("bodies that are no such request, and versions that do not speak the call, are refused", async () => {
  assert.equal((await post("/v1/messages", { model: "m" })).status, 400);
  assert.equal((await post("/v1/responses", [] as unknown as Body)).status, 400);
  const chat = async (): Promise<never> => assert.fail("not asked");
  const own = await world({ own: { chat, models: async () => [], close: async () => {} } });
  try {
    for (const path of ["/v1/responses", "/v1/messages", "/v1/embeddings"]) {
      const body = JSON.stringify({ input: "x", messages: [] });
      const answer = await fetch(`${own.url}${path}`, { method: "POST", headers: typed, body });
      assert.equal(answer.status, 404);
      assert.match(await answer.text(), /not_spoken/);
    }
    assert.equal(own.state().calls, 0);
  } finally {
    await own.close();
  }
});
