/** What narrowed keys may name of the upstream's, and that this server's own keys stay here. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { gate } from "../../../src/serve/auth.ts";
import { namedObjects } from "../../../src/serve/gateway/namedObjects.ts";
import { isAzure, upstream } from "../../../src/serve/gateway/upstream.ts";
import { mintKey } from "../../../src/serve/keys.ts";
import { before, world } from "./world.ts";

const now = Date.now();
const minted = {
  chat: mintKey({ label: "a", scopes: ["chat"] }, now),
  ann: mintKey({ label: "b", scopes: ["chat"], only: { user: "ann" } }, now),
  bob: mintKey({ label: "c", scopes: ["chat"], only: { user: "bob" } }, now),
  s1: mintKey({ label: "d", scopes: ["chat"], only: { session: "s1" } }, now),
  s2: mintKey({ label: "e", scopes: ["chat"], only: { session: "s2" } }, now),
};
type Name = keyof typeof minted;
const keys = Object.values(minted).map(({ key }) => key);
const closed = () =>
  gate({ production: { keys: async () => keys }, open: false, signing: new Uint8Array(32) });

let answers = 0;
/** Paths, queries and texts of the bodies that the upstream received. */
const paths: string[] = [];
const at = await before(
  (_, response, request) => {
    paths.push(request.url ?? "");
    const id = String(++answers).padStart(30, "0");
    const output = [
      { type: "reasoning", id: `rs_${id}`, summary: [] },
      { type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text: "Hi" }] },
    ];
    const body = request.url?.includes("/completions")
      ? { id: `cmpl-${id}`, choices: [{ index: 0, text: " cat", finish_reason: "stop" }] }
      : { id: `resp_${id}`, object: "response", status: "completed", output };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  },
  { gate: closed(), of: { key: "sk-upstream", clientKeys: false } },
);
after(() => at.close());

async function ask(
  name: Name,
  path: string,
  body: JsonObject | string,
  headers: Record<string, string> = {},
  url = at.url,
): Promise<{ readonly status: number; readonly id: string; readonly text: string }> {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${minted[name].secret}`,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, id: answer.headers.get("x-whetstone-response") ?? "", text };
}

test("a narrowed key names what was recorded for it, and nothing else of the upstream's", async () => {
  const first = await ask("ann", "/v1/responses", { input: "Hi" });
  assert.equal(first.status, 200);
  const reasoning = first.id.replace("resp_", "rs_");
  const again = {
    input: [
      { type: "reasoning", id: reasoning, summary: [] },
      { role: "user", content: "So?" },
    ],
  };
  assert.equal((await ask("ann", "/v1/responses", again)).status, 200);
  assert.equal(
    (await ask("ann", "/v1/responses", { previous_response_id: first.id, input: "x" })).status,
    200,
  );
  const received = at.upstream.asked.length;
  const foreign: readonly JsonObject[] = [
    { input: "x", previous_response_id: "resp_of-somebody" },
    { input: "x", previous_response_id: 7 },
    { input: "x", conversation: "conv_1" },
    { input: "x", conversation: { id: "conv_1" } },
    { input: [{ type: "item_reference", id: "rs_of-somebody" }] },
    { input: [{ id: "rs_of-somebody" }] },
    { input: [{ type: "image_generation_call", id: "ig_1" }] },
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "file-1" }] }] },
    { input: "x", tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
    { input: "x", tools: [{ type: "code_interpreter", container: "cntr_1" }] },
    { input: "x", tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file-1"] } }] },
    { prompt: { id: "pmpt_1" } },
  ];
  for (const body of foreign) {
    const { status, text } = await ask("ann", "/v1/responses", body);
    assert.equal(status, 403, JSON.stringify(body));
    assert.match(text, /was not recorded for it here/);
  }
  const files = {
    messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: "f" } }] }],
  };
  for (const path of ["/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions"])
    assert.equal((await ask("ann", path, files)).status, 403, path);
  assert.equal((await ask("bob", "/v1/responses", again)).status, 403, "an item of another user");
  assert.equal((await ask("bob", "/v1/responses", { previous_response_id: first.id })).status, 403);
  assert.equal(at.upstream.asked.length, received, "nothing of it reached the upstream");
  const free = { input: "x", conversation: "conv_1", previous_response_id: "resp_of-somebody" };
  assert.equal((await ask("chat", "/v1/responses", free)).status, 200, "other keys are not restricted");
});

test("items of one session are not another session's, where no user is named", async () => {
  const first = await ask("s1", "/v1/responses", { input: "Hi" });
  const more = { input: [{ type: "item_reference", id: first.id.replace("resp_", "msg_") }] };
  assert.equal((await ask("s1", "/v1/responses", more)).status, 200);
  assert.equal((await ask("s2", "/v1/responses", more)).status, 403);
  const whole = { input: [{ type: "message", id: "msg_own", role: "user", content: "Hi" }] };
  assert.equal((await ask("s2", "/v1/responses", whole)).status, 200, "contents are the client's own");
});

test("after a restart a narrowed key continues its recorded responses, and not those of others", async () => {
  const first = await ask("ann", "/v1/responses", { input: "Hi" });
  const again = await world(
    { main: upstream({ url: at.upstream.url, key: "sk-upstream" }) },
    { gate: closed() },
    [...at.responses],
  );
  try {
    const more = { input: "x", previous_response_id: first.id };
    assert.equal((await ask("ann", "/v1/responses", more, {}, again.url)).status, 200);
    assert.equal((await ask("bob", "/v1/responses", more, {}, again.url)).status, 403);
  } finally {
    await again.close();
  }
});

test("of a field that stands in a narrowed key's body twice, the upstream reads what was checked", async () => {
  const first = await ask("ann", "/v1/responses", { input: "Hi" });
  const twice = `{"input":"x","previous_response_id":"resp_theirs","previous_response_id":${JSON.stringify(first.id)}}`;
  assert.equal((await ask("ann", "/v1/responses", twice)).status, 200);
  assert.deepEqual(at.upstream.asked.at(-1), { input: "x", previous_response_id: first.id });
});

test("ids in schemas of tools, arguments of calls and tags are the client's own", () => {
  const body = {
    tools: [
      { name: "f", input_schema: { properties: { file_id: { enum: ["a"] } }, default: { file_id: "a" } } },
    ],
    messages: [
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: { file_id: "mine" } }] },
      { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: '{"file_id":"a"}' } }] },
    ],
    metadata: { conversation: "c", file_id: "f" },
    prompt: "once upon a time",
    audio: { voice: "alloy", format: "wav" },
  };
  assert.deepEqual(namedObjects(body), []);
  const named = { messages: [{ role: "assistant", audio: { id: "audio_1" } }], container: { id: "c" } };
  assert.deepEqual(
    namedObjects(named)
      .map(({ id }) => id)
      .sort(),
    ["audio_1", "c"],
  );
});

test("Whetstone's keys reach no upstream, in whichever header or parameter they stand", async () => {
  const { secret } = minted.chat;
  const headers = {
    "x-api-key": secret,
    "api-key": secret,
    "openai-organization": secret,
    "idempotency-key": `a ${secret}`,
    "x-title": encodeURIComponent(secret),
  };
  const query = `?api-version=v1&key=${secret}&other=%77${secret.slice(1)}&a=b%20c`;
  assert.equal((await ask("chat", `/v1/responses${query}`, { input: "x" }, headers)).status, 200);
  const sent = at.upstream.headers.at(-1)!;
  assert.ok(!JSON.stringify(sent).includes(secret.slice(4, 30)), JSON.stringify(sent));
  assert.equal(sent.authorization, "Bearer sk-upstream");
  assert.equal(paths.at(-1), "/v1/responses?api-version=v1&a=b%20c");
  const passing = await before(
    (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"),
    { gate: closed() },
  );
  try {
    const body = { messages: [] };
    const basic = `Basic ${Buffer.from(`${secret}:`).toString("base64")}`;
    const shown = { "x-api-key": secret, authorization: basic };
    assert.equal((await ask("chat", "/v1/chat/completions", body, shown, passing.url)).status, 200);
    assert.equal(passing.upstream.headers.at(-1)!.authorization, undefined);
    const own = { "x-api-key": secret, authorization: "Bearer sk-own" };
    assert.equal((await ask("chat", "/v1/chat/completions", body, own, passing.url)).status, 200);
    assert.equal(passing.upstream.headers.at(-1)!.authorization, "Bearer sk-own");
  } finally {
    await passing.close();
  }
});

test("Azure's paths, its key's header and its deployment as the model", async () => {
  const azure = { authorization: "", "api-key": minted.ann.secret };
  const calls = [
    ["/openai/v1/responses?api-version=v1", { input: "x", model: "m" }, "m"],
    ["/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", { messages: [] }, "gpt-4o"],
    ["/openai/deployments/gpt-4o/chat/completions", { messages: [], model: "named" }, "named"],
    ["/openai/deployments/e/embeddings", { input: "x" }, "e"],
    ["/user/ann/openai/responses", { input: "x", model: "m" }, "m"],
  ] as const;
  for (const [path, body, model] of calls) {
    assert.equal((await ask("ann", path, body, azure)).status, 200, path);
    assert.equal(at.upstream.asked.at(-1)!.model, model);
    assert.equal(at.upstream.headers.at(-1)!["api-key"], undefined);
  }
  assert.equal(paths.at(-4), "/v1/chat/completions?api-version=2024-10-21");
  assert.equal((await ask("ann", "/user/bob/openai/responses", { input: "x" }, azure)).status, 403);
  assert.equal((await ask("ann", calls[0][0], calls[0][1], { ...azure, "api-key": "wrong" })).status, 401);
  assert.deepEqual(
    ["https://r.openai.azure.com", "https://r.services.ai.azure.com", "https://azure.com.evil.org"].map(
      isAzure,
    ),
    [true, true, false],
  );
});

test("embeddings of token ids are passed on, and tokens are counted for the model that answers", async () => {
  const input = Array.from({ length: 1500 }, () => Array.from({ length: 150 }, (_, i) => i));
  assert.equal((await ask("chat", "/v1/embeddings", { model: "e", input })).status, 200);
  assert.deepEqual(at.upstream.asked.at(-1), { model: "e", input });
  const named = await before(
    (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"),
    { gate: closed(), of: { model: "m-2" } },
  );
  try {
    for (const [path, model] of [
      ["/v1/messages/count_tokens", "m-2"],
      ["/v1/embeddings", "m-1"],
    ] as const) {
      await ask("chat", path, { model: "m-1", input: "x", messages: [] }, {}, named.url);
      assert.equal(named.upstream.asked.at(-1)!.model, model, path);
    }
  } finally {
    await named.close();
  }
});

test("completions are recorded, whatever form their prompts have", async () => {
  const from = at.responses.length;
  const { id } = await ask("chat", "/v1/completions", { model: "m", prompt: "The", max_tokens: 3 });
  await ask("chat", "/v1/completions", {
    model: "m",
    prompt: [
      ["a", "b"],
      [1, 2],
    ].flat(),
  });
  await ask("chat", "/v1/completions", { model: "m", prompt: [1, 2, 3] });
  assert.equal((await ask("chat", "/v1/completions", { model: "m" })).status, 400);
  const [one, two, three] = at.responses.slice(from);
  assert.equal(one!.id, id);
  assert.deepEqual(one!.prompt, [{ role: "user", content: "The" }]);
  assert.deepEqual(one!.choices, [{ message: { role: "assistant", content: " cat" }, stop: "eos" }]);
  assert.deepEqual(one!.settings, { max_tokens: 3 });
  assert.notEqual(two!.prompt[0]!.content, three!.prompt[0]!.content);
  assert.equal(at.responses.length, from + 3);
});
