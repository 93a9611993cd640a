import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { WhetstoneError } from "../../../src/core/errors.ts";
import type { ServedResponse } from "../../../src/core/served.ts";
import type { Answerer } from "../../../src/serve/gateway/answerer.ts";
import { mintKey } from "../../../src/serve/keys.ts";
import { before, world } from "./world.ts";

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

test("a status that no answer has is no answer, and holds nothing open", async () => {
  const g = await before((body, response) => {
    response.writeHead(Number(body.model), { "content-type": "text/event-stream" });
    response.end();
  });
  for (const model of ["204", "304", "700"]) {
    const answer = await fetch(`${g.url}/v1/chat/completions`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ model, messages: [question] }),
    });
    assert.equal(answer.status, 502);
    assert.match(await answer.text(), new RegExp(`status ${model}`));
  }
  assert.equal(g.state().running, 0);
  assert.deepEqual(
    g.responses.map(({ status }) => status),
    ["failed", "failed", "failed"],
  );
  await g.close();
});

test("an answer that never ends is given up, and fills no memory", async () => {
  let left = false;
  async function* endless() {
    try {
      for (;;) yield new Uint8Array(1 << 20).fill(0x20);
    } finally {
      left = true;
    }
  }
  const g = await world({
    v: { ...says("v"), chat: async () => ({ status: 200, headers: {}, body: endless() }) },
  });
  const answer = await fetch(`${g.url}/v1/chat/completions`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ messages: [question] }),
  });
  assert.equal(answer.status, 502);
  assert.match(await answer.text(), /more than 67108864 bytes/);
  assert.equal(left, true);
  assert.equal(g.responses[0]?.status, "cut");
  await g.close();
});

test("a stream that never ends is given up, and fills no memory", async () => {
  const piece = JSON.stringify({
    id: "up",
    choices: [{ index: 0, delta: { content: "x".repeat(1 << 20) } }],
  });
  let left = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.from(`data: ${piece}\n\n`);
    } finally {
      left = true;
    }
  }
  const g = await world({
    v: {
      ...says("v"),
      chat: async () => ({
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: endless(),
      }),
    },
  });
  const answer = await fetch(`${g.url}/v1/chat/completions`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ stream: true, messages: [question] }),
  });
  let heard = 0;
  await assert.rejects(async () => {
    for await (const bytes of answer.body!) heard += bytes.length;
  });
  assert.ok(heard > 32 << 20 && heard <= 64 << 20, `${heard} bytes`);
  assert.equal(left, true);
  assert.equal(g.responses[0]?.status, "cut");
  assert.match(g.responses[0]?.error ?? "", /more than 67108864 bytes/);
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

test("a client that reads slowly slows the upstream down", async () => {
  const event = `data: {"id":"u","choices":[{"index":0,"delta":{"content":"${"x".repeat(60_000)}"}}]}\n\n`;
  let [written, ended] = [0, false];
  const g = await before(async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (; written < 1000 && !ended; written++) {
      if (response.write(event)) continue;
      await new Promise<void>((go) => {
        response.once("drain", go);
        response.once("close", go);
      });
      ended = response.destroyed;
    }
    response.end();
  });
  const leaving = new AbortController();
  const answer = await ask(g.url, { messages: [question], stream: true }, {}, leaving.signal);
  await answer.body!.getReader().read();
  let before_ = -1;
  while (written !== before_) {
    before_ = written;
    await pause(100);
  }
  // 60 MB would have been written; sockets and queues on the way hold some
  assert.ok(written < 500, `${written} events`);
  leaving.abort();
  await g.recorded(1);
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

/** Answers with its own name. */
const says = (name: string): Answerer => ({
  chat: async () => ({
    status: 200,
    headers: json,
    body: (async function* () {
      yield Buffer.from(completion("x", name));
    })(),
  }),
  models: async () => [name],
  close: async () => {},
});

test("a new split is live without a restart, and every call says which version was drawn, and how likely", async () => {
  const g = await world({ old: says("old"), new: says("new") });
  const talk = (session: string) => ask(g.url, { messages: [question] }, { "x-whetstone-session": session });
  await talk("s0");
  g.splits.push({ id: "half", shares: { old: 0.25, new: 0.75 }, unit: "session", since: 0, why: "try" });
  await g.refresh();
  for (let i = 0; i < 40; i++) await talk(`s${i % 20}`);
  const [first, ...rest] = g.responses;
  assert.deepEqual([first!.version, first!.propensity, first!.split], ["old", 1, undefined]);
  for (const { version, propensity, split, choices } of rest) {
    assert.deepEqual([propensity, split], [version === "old" ? 0.25 : 0.75, "half"]);
    assert.equal(choices[0]!.message.content, version);
  }
  // a session stays with its version
  for (let i = 0; i < 20; i++) assert.equal(rest[i]!.version, rest[i + 20]!.version);
  assert.equal(new Set(rest.map(({ version }) => version)).size, 2);
  assert.match(g.lines.join(), /split half: old 25 %, new 75 % \(try\)/);
  const models = await (await fetch(`${g.url}/v1/models`)).text();
  assert.match(models, /"old".*"new"/);
  // one that names what nobody can open changes nothing
  g.splits.push({ id: "bad", shares: { gone: 1 }, unit: "session", since: 0, why: "typo" });
  await g.refresh();
  await talk("s0");
  assert.equal(g.responses.at(-1)!.split, "half");
  assert.match(g.lines.join(), /stay as they are[^,]*"gone"/);
  await g.close();
});

test("identity: header before path before the body's user; names that are none are refused", async () => {
  const g = await world({ v: says("v") }, { channels: ["thumbs"] });
  const post = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${g.url}${path}/chat/completions`, {
      method: "POST",
      headers: { ...json, ...headers },
      body: JSON.stringify({ messages: [question], user: "body" }),
    });
  await post("/user/ann/session/s1/v1");
  await post("/session/s2/v1", { "x-whetstone-user": "bob", "x-whetstone-channels": "stars, comment" });
  await post("/session/s3/v1", { "x-whetstone-session": "s4" });
  assert.deepEqual(
    g.responses.map(({ session, user, channels }) => [session, user, channels]),
    [
      ["s1", "ann", ["thumbs"]],
      ["s2", "bob", ["stars", "comment"]],
      ["s4", "body", ["thumbs"]],
    ],
  );
  const strange = await post(`/session/${encodeURIComponent("a\u0000b")}/v1`);
  assert.equal(strange.status, 400);
  assert.match(await strange.text(), /invalid_session/);
  // what the body calls a user is the provider's affair
  const long = await fetch(`${g.url}/v1/chat/completions`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ messages: [question], user: '{"device":\n1}' }),
  });
  assert.equal(long.status, 200);
  assert.equal(g.responses.pop()?.user, undefined);
  for (const body of ["", "{", "[]", '{"messages":1}', "\ud800"]) {
    const refused = await fetch(`${g.url}/v1/chat/completions`, { method: "POST", headers: json, body });
    assert.equal(refused.status, 400, body);
  }
  assert.equal(g.responses.length, 3);
  await g.close();
});

test("a key for one user writes into no session of another's, whether it runs, is remembered or stored", async () => {
  const stored: ServedResponse[] = [];
  const before = await world({ v: says("v") }, {}, stored);
  const of = (session: string, more: Record<string, string> = {}) => ({
    "x-whetstone-session": session,
    ...more,
  });
  await ask(before.url, { messages: [question] }, of("stored", { "x-whetstone-user": "bob" }));
  await before.close();

  const { promise: answering, resolve: answerNow } = Promise.withResolvers<void>();
  let waiting = (): void => {};
  const slow: Answerer = {
    ...says("v"),
    async chat(call) {
      if (String(call.body).includes("slow") || Buffer.from(call.body).includes("slow")) {
        waiting();
        await answering;
      }
      return await says("v").chat(call);
    },
  };
  const g = await world({ v: slow }, {}, stored);
  const { secret, key } = mintKey({ label: "ann", scopes: ["chat"], only: { user: "ann" } }, Date.now());
  const one = mintKey({ label: "one", scopes: ["chat"], only: { response: "r" } }, Date.now());
  g.keys.push(key, one.key);
  const ann = { authorization: `Bearer ${secret}` };
  const status = async (headers: Record<string, string>, body: object = { messages: [question] }) => {
    const answer = await ask(g.url, body, headers);
    await answer.text();
    return answer.status;
  };
  assert.equal(await status(of("hers", ann)), 200);
  assert.equal(await status(of("bobs", { "x-whetstone-user": "bob" })), 200);
  assert.equal(await status(of("nobodys")), 200);
  const begun = new Promise<void>((go) => {
    waiting = go;
  });
  const running = status(of("running", { "x-whetstone-user": "bob" }), {
    messages: [{ role: "user", content: "slow" }],
  });
  await begun;
  const written = stored.length;
  for (const session of ["stored", "bobs", "nobodys", "running"]) {
    assert.equal(await status(of(session, ann)), 403, session);
  }
  assert.equal(await status({ authorization: `Bearer ${one.secret}` }), 403);
  assert.equal(stored.length, written);
  assert.equal(await status(of("hers", ann)), 200);
  assert.equal(await status(of("new", ann)), 200);
  assert.equal(await status(ann), 200);
  answerNow();
  assert.equal(await running, 200);
  assert.deepEqual(
    new Set(stored.filter(({ user }) => user === "ann").map(({ session }) => session)).size,
    3,
  );
  await g.close();
});

test("a key for one user calls no model where its session cannot be read", async () => {
  const production = {
    // biome-ignore lint/correctness/useYield: it fails before
    async *responses(): AsyncGenerator<ServedResponse> {
      throw new WhetstoneError("store.failed", { where: "store", got: "x", expected: "y", fix: "Z." });
    },
  };
  const g = await world({ v: says("v") }, { production });
  const { secret, key } = mintKey({ label: "ann", scopes: ["chat"], only: { user: "ann" } }, Date.now());
  g.keys.push(key);
  const headers = { authorization: `Bearer ${secret}`, "x-whetstone-session": "s" };
  const refused = await ask(g.url, { messages: [question] }, headers);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "5"]);
  assert.equal(g.state().calls, 0);
  await g.close();
});

test("two whom nothing names and whose conversations begin alike are two sessions, also at once", async () => {
  const g = await world({ v: says("v") });
  const opening = [question, { role: "assistant", content: "v" }];
  const talk = async (messages: object[]) =>
    (await ask(g.url, { messages })).headers.get("x-whetstone-session");
  const begun = [await talk([question]), await talk([question])];
  const on = await Promise.all(["a", "b"].map((content) => talk([...opening, { role: "user", content }])));
  assert.deepEqual([new Set(begun).size, new Set(on)], [2, new Set(begun)]);
  const placed = (await g.recorded(4)).map(({ session, turn, trajectory }) => [
    session,
    turn,
    trajectory.endsWith("/0"),
  ]);
  for (const session of begun) {
    assert.deepEqual(
      placed.filter(([of]) => of === session),
      [
        [session, 0, true],
        [session, 1, true],
      ],
    );
  }
  await g.close();
});

test("names of any letters are the same in a header as in a path, there and back", async () => {
  const g = await world({ v: says("v") });
  for (const name of ["a/b", "50% off", "100%25", "日本 ü", "%2e%2e", "ok"]) {
    const path = `/session/${encodeURIComponent(name)}/v1`;
    const asked = { method: "POST", body: JSON.stringify({ messages: [question] }) };
    const first = await fetch(`${g.url}${path}/chat/completions`, { ...asked, headers: json });
    const header = first.headers.get("x-whetstone-session") ?? "";
    assert.equal(decodeURIComponent(header), name);
    await fetch(`${g.url}/v1/chat/completions`, {
      ...asked,
      headers: { ...json, "x-whetstone-session": header },
    });
    assert.deepEqual(
      g.responses.splice(0).map(({ session }) => session),
      [name, name],
    );
  }
  const plain = await fetch(`${g.url}/v1/chat/completions`, {
    method: "POST",
    headers: { ...json, "x-whetstone-session": "5 % a day" },
    body: JSON.stringify({ messages: [question] }),
  });
  assert.equal(plain.status, 200);
  assert.equal(g.responses[0]?.session, "5 % a day");
  await g.close();
});

test("a session that was named goes on after a restart where the store has it", async () => {
  const stored: ServedResponse[] = [];
  const first = await world({ v: says("v") }, {}, stored);
  await ask(first.url, { messages: [question] }, { "x-whetstone-session": "s" });
  await first.close();
  const second = await world({ v: says("v") }, {}, stored);
  const messages = [question, { role: "assistant", content: "v" }, { role: "user", content: "and?" }];
  await ask(second.url, { messages }, { "x-whetstone-session": "s" });
  assert.deepEqual(
    stored.map(({ trajectory, turn }) => [trajectory, turn]),
    [
      ["s/0", 0],
      ["s/0", 1],
    ],
  );
  await second.close();
});

test("where a session cannot be read, a call stands alone and takes no other's place", async () => {
  let readable = false;
  const stored: ServedResponse[] = [];
  const production = {
    async *responses() {
      if (!readable) throw new Error("away");
      yield* stored;
    },
  };
  const g = await world({ v: says("v") }, { production }, stored);
  await ask(g.url, { messages: [question] }, { "x-whetstone-session": "s" });
  readable = true;
  await ask(g.url, { messages: [question] }, { "x-whetstone-session": "s" });
  assert.deepEqual(
    stored.map(({ trajectory, turn }) => [trajectory, turn]),
    [
      [`s/${stored[0]?.id}`, 0],
      ["s/0", 0],
    ],
  );
  await g.close();
});

test("while a session is being read, nobody goes by the half of it", async () => {
  const stored: ServedResponse[] = [];
  const said = [question, { role: "assistant", content: "v" }, { role: "user", content: "and?" }];
  const before = await world({ v: says("v") }, {}, stored);
  for (const messages of [[question], said]) {
    await ask(before.url, { messages }, { "x-whetstone-session": "s" });
  }
  await before.close();
  const reading = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<void>();
  const production = {
    async *responses() {
      const [first, ...others] = [...stored];
      yield first!;
      reading.resolve();
      await rest.promise;
      yield* others;
    },
  };
  const g = await world({ v: says("v") }, { production }, stored);
  const unrelated = { messages: [{ role: "user", content: "other" }] };
  const one = ask(g.url, unrelated, { "x-whetstone-session": "s" });
  await reading.promise;
  const messages = [...said, { role: "assistant", content: "v" }, { role: "user", content: "then?" }];
  const other = ask(g.url, { messages }, { "x-whetstone-session": "s" });
  await pause(20);
  rest.resolve();
  await Promise.all([one, other, g.recorded(4)]);
  const places = stored.slice(2).map(({ trajectory, turn }) => `${trajectory} ${turn}`);
  assert.deepEqual(places.toSorted(), ["s/0 2", "s/1 0"]);
  await g.close();
});

test("durable on request: on disk before the last byte, refused where the disk is full", async () => {
  let kept = 0;
  const recorder = {
    record: () => assert.fail("asked to be durable"),
    recordPassed: () => undefined,
    late: () => undefined,
    async recordDurably() {
      await pause(20);
      kept++;
      if (kept < 3) return;
      const full = { where: "store", got: "a full disk", expected: "room", fix: "Make room." };
      throw new WhetstoneError("store.full", full);
    },
  };
  const event = `data: {"id":"u","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n`;
  const g = await before(
    (body, response) => {
      if (body.stream !== true) return response.writeHead(200, json).end(completion("x", "y"));
      return response.writeHead(200, { "content-type": "text/event-stream" }).end(`${event}data: [DONE]\n\n`);
    },
    { recorder },
  );
  const durable = { "x-whetstone-durable": "1" };
  await (await ask(g.url, { messages: [question] }, durable)).text();
  assert.equal(kept, 1);
  const streamed = await (await ask(g.url, { messages: [question], stream: true }, durable)).text();
  assert.equal(kept, 2);
  assert.match(streamed, /\[DONE\]/);
  const refused = await ask(g.url, { messages: [question] }, durable);
  assert.equal(refused.status, 507);
  assert.match(await refused.text(), /store_full/);
  const broken = await (await ask(g.url, { messages: [question], stream: true }, durable)).text();
  assert.match(broken, /store_full/);
  assert.doesNotMatch(broken, /DONE/);
  await g.close();
});

test("closing: calls that run may end, new ones are told to come again", async () => {
  let finish = (): void => {};
  const g = await before(async (_, response) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    response.writeHead(200, json).end(completion("x", "late"));
  });
  const running = ask(g.url, { messages: [question] });
  while (g.upstream.asked.length === 0) await pause(2);
  const drained = g.drain();
  const refused = await ask(g.url, { messages: [question] });
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  finish();
  assert.match(await (await running).text(), /late/);
  await drained;
  assert.equal(g.responses.length, 1);
  await g.close();
});

test("redirects are not followed, and keys go where they belong", async () => {
  const elsewhere = await before((_, response) => response.end("{}"));
  const g = await before((_, response) =>
    response.writeHead(302, { location: `${elsewhere.upstream.url}/secret` }).end(),
  );
  const answer = await fetch(`${g.url}/v1/chat/completions`, {
    method: "POST",
    redirect: "manual",
    headers: { ...json, authorization: "Bearer sk-theirs", cookie: "no" },
    body: JSON.stringify({ messages: [question] }),
  });
  assert.equal(answer.headers.get("location"), null);
  assert.equal(elsewhere.upstream.asked.length, 0);
  assert.equal(g.upstream.headers[0]!.authorization, "Bearer sk-theirs");
  assert.equal(g.upstream.headers[0]!.cookie, undefined);
  assert.equal(g.responses[0]!.status, "failed");
  await g.close();
  const keyed = await before((_, response) => response.writeHead(200, json).end(completion("x", "y")), {
    of: { key: "ours-upstream" },
  });
  await ask(keyed.url, { messages: [question] }, { authorization: "Bearer sk-theirs" });
  assert.equal(keyed.upstream.headers[0]!.authorization, "Bearer ours-upstream");
  assert.doesNotMatch(JSON.stringify([keyed.responses, keyed.lines]), /ours-upstream|sk-theirs/);
  await keyed.close();
  await elsewhere.close();
});
