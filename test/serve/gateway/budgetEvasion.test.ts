/** Ways around a key's budget: each call costs a dollar of the one that the key has, so the second is refused. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { tokensOf } from "../../../src/serve/costs.ts";
import { openVersion, versionOf } from "../../../src/serve/gateway/open.ts";
import { serveProduction } from "../../../src/serve/gateway/server.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import { mintKey } from "../../../src/serve/keys.ts";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { recorder } from "../../../src/store/recorder.ts";
import { served } from "../memory.ts";
import { scripted } from "./world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-evasion-"));
/** More values than are read. */
const unreadable = `[${"1,".repeat(1_000_100)}1]`;
const million = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
const urls: string[] = [];

const upstream = await scripted(async (body, response, { url = "" }) => {
  urls.push(url);
  if (body.max_tokens === 1000) await new Promise((resolve) => setTimeout(resolve, 300));
  const json = (text: string): unknown => {
    response.setHeader("content-type", "application/json");
    return response.end(text);
  };
  const events = (...data: string[]): unknown => {
    response.setHeader("content-type", "text/event-stream");
    return response.end(data.map((one) => `data: ${one}\n\n`).join(""));
  };
  const junk = body.huge === true ? unreadable : "[]";
  if (url.endsWith("/responses")) {
    const used = `"usage":{"input_tokens":1000000,"output_tokens":0}`;
    const tools = `"tools":[{"usage":{"input_tokens":0,"output_tokens":0}}]`;
    const whole = `{"id":"resp_x","status":"completed","output":[],"junk":${junk},${tools},${used},"metadata":{"usage":"{}"}}`;
    if (body.stream !== true) return json(whole);
    return events(`{"type":"response.completed","response":${whole}}`);
  }
  const usage = JSON.stringify(million);
  const isAsked = (body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
  if (url.endsWith("/completions") && !url.includes("/chat/")) {
    const text = JSON.stringify({ id: "cmpl-1", choices: [{ index: 0, text: "hi", finish_reason: "stop" }] });
    const end = `{"id":"cmpl-1","choices":[],"usage":${usage}}`;
    return events(text, ...(isAsked ? [end] : []), "[DONE]");
  }
  const choice = `{"index":0,"finish_reason":"stop","logprobs":${junk},"message":{"role":"assistant","content":"hi"}}`;
  if (body.stream === undefined)
    return json(`{"id":"x","choices":[${choice}]${body.mute === true ? "" : `,"usage":${usage}`}}`);
  const delta = `{"id":"x","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`;
  return events(
    delta,
    ...(isAsked ? [`{"id":"x","choices":[],"usage":${usage},"junk":${junk}}`] : []),
    "[DONE]",
  );
});
const production = await openTrafficStore(join(folder, "store.sqlite"));
const writing = recorder(production);
await production.addVersion(versionOf({ kind: "upstream", url: upstream.url }, 0));
await production.putPrice({ id: "cheap", input: 1, output: 1 });
await production.putPrice({ id: "wordy", input: 0, output: 600 });
await production.putPrice({ id: "costly", input: 1000, output: 0 });
const versions = await liveVersions({ production, open: (one) => openVersion(one, { environment: {} }) });
const keys = await Promise.all(
  Array.from({ length: 20 }, async (_, i) => {
    const budget = { usd: 1, per: "ever" } as const;
    const { secret, key } = mintKey({ label: `k${i}`, scopes: ["chat"], budget }, Date.now());
    await production.putKey(key);
    return secret;
  }),
);
const server = await serveProduction({ production, recorder: writing, versions, signing: randomBytes(32) });
after(async () => {
  await server.close();
  await versions.close();
  await writing.close();
  await production.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const hello = `"model":"cheap","messages":[{"role":"user","content":"hello"}]`;
async function post(key: string, path: string, body: string, signal?: AbortSignal) {
  const response = await fetch(`${server.url}/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
    ...(signal && { signal }),
  });
  const text = await response.text();
  await writing.flush();
  return { status: response.status, text, again: response.headers.get("retry-after") };
}

const paid: readonly (readonly [what: string, path: string, body: string])[] = [
  ["an answer with more values than are read", "/chat/completions", `{"huge":true,${hello}}`],
  [
    "an end of a stream with more values than are read",
    "/chat/completions",
    `{"huge":true,"stream":true,"stream_options":{"include_usage":true},${hello}}`,
  ],
  ["a response with more values than are read", "/responses", `{"model":"cheap","huge":true,"input":"hi"}`],
  [
    "a streamed response with more values than are read",
    "/responses",
    `{"model":"cheap","huge":true,"stream":true,"input":"hi"}`,
  ],
  ["an unread answer that states no usage", "/chat/completions", `{"huge":true,"mute":true,${hello}}`],
  [
    "a streamed completion of token ids",
    "/completions",
    `{"model":"cheap","stream":true,"prompt":[1,2,3,4,5]}`,
  ],
  ["a stream that is asked for in other words", "/chat/completions", `{"stream":1,${hello}}`],
];
for (const [what, path, body] of paid) {
  test(`${what} is paid`, async () => {
    const key = keys.pop()!;
    assert.equal((await post(key, path, body)).status, 200);
    const [last] = (await Array.fromAsync(production.responses())).toReversed();
    assert.ok((last?.usage?.input ?? 0) + (last?.usage?.output ?? 0) >= 600_000, JSON.stringify(last?.usage));
    if (!body.includes("mute")) assert.equal((await post(key, path, body)).status, 429);
  });
}

test("a streamed completion shows no usage to a client that did not ask, and keeps its id", async () => {
  const { text } = await post(keys.pop()!, "/completions", `{"model":"cheap","stream":true,"prompt":"hi"}`);
  assert.doesNotMatch(text, /usage/);
  assert.match(text, /"id":"cmpl-1".*\n\ndata: \[DONE\]\n\n$/s);
});

test("what is paid is what is asked for: no other model in the query, and no field twice", async () => {
  const key = keys.pop()!;
  const body = `{"model":"dear",${hello}}`;
  assert.equal(
    (await post(key, "/chat/completions?model=dear&MODEL=dear&%6dodel=dear&a=1", body)).status,
    200,
  );
  assert.match(urls.at(-1)!, /\/chat\/completions\?a=1$/);
  assert.equal(upstream.asked.at(-1)!.model, "cheap");
  const { length } = JSON.stringify(upstream.asked.at(-1));
  assert.equal(upstream.headers.at(-1)!["content-length"], String(length), "nothing stands twice");
});

test("what is paid elsewhere or by another model's price is refused", async () => {
  const key = keys.pop()!;
  const before = upstream.asked.length;
  for (const [path, body] of [
    ["/responses", `{"model":"cheap","background":true,"input":"hi"}`],
    ["/chat/completions", `{"models":["dear"],${hello}}`],
    ["/chat/completions", `{"fallbacks":[{"model":"dear"}],${hello}}`],
  ] as const) {
    const refused = await post(key, path, body);
    assert.deepEqual([refused.status, /"code":"(\w+)"/.exec(refused.text)?.[1]], [403, "no_price"], body);
  }
  assert.equal(upstream.asked.length, before);
  const usual = `{"model":"cheap","background":false,"models":[],"fallbacks":null,"input":"hi"}`;
  assert.equal((await post(key, "/responses", usual)).status, 200);
});

test("an answer that its client left is paid by what was said, whatever its first event stated", () => {
  const left = served({
    id: "left",
    status: "cut",
    usage: { input: 10, output: 1 },
    choices: [{ message: { role: "assistant", content: "x".repeat(3000) }, stop: "cut" }],
  });
  assert.deepEqual(tokensOf(left), { input: 10, output: 1000 });
  assert.deepEqual(tokensOf({ ...left, status: "complete" }), { input: 10, output: 1 });
});

test("calls at the same time do not spend a budget many times over: what running ones may cost is held back", async () => {
  const key = keys.pop()!;
  const before = upstream.asked.length;
  // three quarters of the budget each, by their prompt
  const long = `{"model":"costly","max_tokens":1000,"messages":[{"role":"user","content":"${"x".repeat(2250)}"}]}`;
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(key, "/chat/completions", long)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 429, 429, 429]);
  assert.equal(upstream.asked.length, before + 2);
  const refused = answers.find(({ status }) => status === 429)!;
  assert.match(refused.text, /calls that are running.*budget_spent/);
  assert.equal(refused.again, "1");
});

test("what a call held back is free again once it ends, however it ends", async () => {
  const key = keys.pop()!;
  const calm = { ...million };
  Object.assign(million, { prompt_tokens: 1 });
  const long = `{"model":"costly","messages":[{"role":"user","content":"${"x".repeat(2250)}"}]}`;
  for (let i = 0; i < 3; i++) assert.equal((await post(key, "/chat/completions", long)).status, 200);
  // one that its client leaves pays for its prompt
  const slow = long.replace("{", `{"max_tokens":1000,`);
  await assert.rejects(post(key, "/chat/completions", slow, AbortSignal.timeout(100)));
  while (server.state().running > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal((await post(key, "/embeddings", `{"model":"cheap","input":"hi"}`)).status, 200);
  Object.assign(million, calm);
});

test("a client that leaves before the answer pays for what was held back, so that it cannot go on for ever", async () => {
  const leave = async (key: string, path: string, body: string) => {
    await assert.rejects(post(key, path, body, AbortSignal.timeout(100)));
    while (server.state().running > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const talker = keys.pop()!;
  // six tenths of the budget each, by its limit
  const slow = `{"model":"wordy","max_tokens":1000,"messages":[{"role":"user","content":"hi"}]}`;
  await leave(talker, "/chat/completions", slow);
  await leave(talker, "/chat/completions", `{"stream":true,${slow.slice(1)}`);
  const refused = await post(talker, "/chat/completions", slow);
  assert.deepEqual([refused.status, /is spent: \$1 in all/.test(refused.text)], [429, true]);
  const reader = keys.pop()!;
  await leave(reader, "/embeddings", `{"model":"costly","max_tokens":1000,"input":"${"x".repeat(3000)}"}`);
  assert.equal((await post(reader, "/embeddings", `{"model":"cheap","input":"hi"}`)).status, 429);
});

test("usage that cannot be is not counted", async () => {
  const key = keys.pop()!;
  million.prompt_tokens = -1_000_000;
  assert.equal((await post(key, "/chat/completions", `{${hello}}`)).status, 200);
  million.prompt_tokens = 1_000_000;
  const [last] = (await Array.fromAsync(production.responses())).toReversed();
  assert.equal(last?.usage, undefined);
  assert.equal((await post(key, "/chat/completions", `{${hello}}`)).status, 200);
  assert.equal((await post(key, "/chat/completions", `{${hello}}`)).status, 429);
});
