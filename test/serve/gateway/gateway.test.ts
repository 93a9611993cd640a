import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { before } from "./world.ts";

const question = { role: "user", content: "hello" };
const completion = (id: string, content: string): string =>
  // spaces and the odd field are kept as they are
  `{ "id" : "${id}",  "object":"chat.completion","created":7,"model":"m","odd": [1.0, {"id":"${id}"}],
  "choices":[{"index":0,"message":{"role":"assistant","content":${JSON.stringify(content)}},"finish_reason":"stop"}],
  "usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5} }`;
const json = { "content-type": "application/json" };
const ask = (url: string, body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...json, ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

test("an answer comes through as it was written, but for the id that feedback names it by", async () => {
  const g = await before((_, response) =>
    response
      .writeHead(200, { ...json, "x-request-id": "r1", "set-cookie": "no=1", "x-ratelimit-remaining": "9" })
      .end(completion("chatcmpl-123", "hi")),
  );
  const answer = await ask(g.url, { model: "m", messages: [question], temperature: 0.5, seed: 4 });
  const id = answer.headers.get("x-whetstone-response") ?? "";
  assert.match(id, /^chatcmpl-[0-9a-f]{32}$/);
  assert.equal(await answer.text(), completion("chatcmpl-123", "hi").replace("chatcmpl-123", id));
  assert.equal(answer.headers.get("x-request-id"), "r1");
  assert.equal(answer.headers.get("x-ratelimit-remaining"), "9");
  assert.equal(answer.headers.get("set-cookie"), null);
  assert.equal(answer.headers.get("x-whetstone-version"), "main");
  const [response] = await g.recorded(1);
  assert.deepEqual(
    { ...response, at: 0, ms: 0, session: "s", trajectory: "t" },
    {
      id,
      session: "s",
      trajectory: "t",
      turn: 0,
      origin: "gateway",
      at: 0,
      ms: 0,
      version: "main",
      propensity: 1,
      model: "m",
      settings: { temperature: 0.5, seed: 4 },
      prompt: [question],
      choices: [{ message: { role: "assistant", content: "hi" }, stop: "eos" }],
      status: "complete",
      usage: { input: 3, output: 2 },
      channels: [],
      tags: { "whetstone.upstream": "chatcmpl-123" },
    },
  );
  assert.equal(answer.headers.get("x-whetstone-session"), response!.session);
  assert.equal(response!.trajectory, `${response!.session}/0`);
  await g.close();
});

test("events are handed on one by one, as they come, and put together for the record", async () => {
  const chunk = (delta: object, more: object = {}): string =>
    `data: ${JSON.stringify({ id: "up", choices: [{ index: 0, delta, ...more }] })}\n\n`;
  const events = [
    ": still here\n\n",
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "let me " }),
    chunk({ content: "look" }),
    chunk({ tool_calls: [{ index: 1, id: "b", function: { name: "look", arguments: '{"at":' } }] }),
    chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "open", arguments: "{}" } }] }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: ' "é"}' } }] }, { finish_reason: "tool_calls" }),
    `data: {"id":"up","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":9}}\n\n`,
    "data: [DONE]\n\n",
  ];
  let next = (): void => {};
  const g = await before(async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) {
      // in two pieces that cut a character, each after the client has read the event before
      const bytes = Buffer.from(event);
      const middle = Math.max(1, bytes.indexOf(0xc3) + 1);
      response.write(bytes.subarray(0, middle));
      await pause(1);
      const read = new Promise<void>((resolve) => {
        next = resolve;
      });
      response.write(bytes.subarray(middle));
      await read;
    }
    response.end();
  });
  const answer = await ask(g.url, { model: "m", messages: [question], stream: true });
  const id = answer.headers.get("x-whetstone-response")!;
  const read: string[] = [];
  for await (const bytes of answer.body!) {
    read.push(Buffer.from(bytes).toString());
    next();
  }
  assert.deepEqual(
    read,
    events.map((event) => event.replace('"id":"up"', `"id":"${id}"`)),
  );
  const [response] = await g.recorded(1);
  assert.deepEqual(response!.choices, [
    {
      message: {
        role: "assistant",
        content: "let me look",
        toolCalls: [
          { id: "a", name: "open", arguments: "{}" },
          { id: "b", name: "look", arguments: '{"at": "é"}' },
        ],
      },
      stop: "eos",
    },
  ]);
  assert.deepEqual(response!.usage, { input: 1, output: 9 });
  assert.equal(response!.status, "complete");
  await g.close();
});

test("what the upstream refuses comes through with its status, and is recorded as failed", async () => {
  const said = '{"error":{"message":"slow down","code":"rate"}}';
  const g = await before((_, response) => response.writeHead(429, { ...json, "retry-after": "3" }).end(said));
  const answer = await ask(g.url, { model: "m", messages: [question] });
  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get("retry-after"), "3");
  assert.equal(await answer.text(), said);
  const [response] = await g.recorded(1);
  assert.deepEqual(
    [response!.status, response!.error, response!.choices],
    ["failed", "HTTP 429: slow down", []],
  );
  await g.upstream.close();
  const nobody = await ask(g.url, { model: "m", messages: [question] });
  assert.equal(nobody.status, 502);
  assert.match(await nobody.text(), /upstream_unreachable/);
  await g.recorded(2);
  assert.deepEqual([g.state().failed, g.state().running], [2, 0]);
  await g.close();
});

test("a client that goes away ends the call upstream, and leaves what it was told", async () => {
  let left: Promise<unknown> = Promise.resolve();
  const g = await before((_, response) => {
    left = new Promise((resolve) => response.once("close", resolve));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"id":"up","choices":[{"index":0,"delta":{"content":"once upon"}}]}\n\n');
  });
  const leaving = new AbortController();
  const answer = await ask(g.url, { model: "m", messages: [question], stream: true }, {}, leaving.signal);
  await answer.body!.getReader().read();
  leaving.abort();
  const [response] = await g.recorded(1);
  await left;
  assert.equal(response!.status, "cut");
  assert.equal(response!.error, "the client went away");
  assert.deepEqual(response!.choices, [
    { message: { role: "assistant", content: "once upon" }, stop: "cut" },
  ]);
  await g.close();
});

test("an upstream that breaks off breaks off for the client too, and the record says so", async () => {
  const g = await before(async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"id":"up","choices":[{"index":0,"delta":{"content":"once"}}]}\n\n');
    await pause(20);
    response.destroy();
  });
  const answer = await ask(g.url, { model: "m", messages: [question], stream: true });
  await assert.rejects(answer.text());
  const [response] = await g.recorded(1);
  assert.equal(response!.status, "cut");
  assert.notEqual(response!.error, undefined);
  await g.close();
});
