import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { z } from "zod";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { budget } from "../../../src/engine/chat/budget.ts";
import { chatModel } from "../../../src/engine/chat/chat.ts";
import { provider } from "./provider.ts";

const says = (content: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: "user", content }],
  ...more,
});
const quick = { backoffSeconds: 0.01 };
const code =
  (wanted: string) =>
  (e: unknown): boolean =>
    isWhetstoneError(e) && e.code === wanted && !e.message.includes("\n");

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "whetstone-chat-"));
  after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("a reply comes with what it cost, and tools with their calls", async () => {
  const { model, asked } = await provider((_, n) => (n === 0 ? "hello" : { tool: "add", args: '{"a":1}' }));
  const chat = chatModel({ model, price: { input: 1, output: 2 } });
  assert.deepEqual(await chat.reply(says("hi", { seed: 7 })), {
    message: { role: "assistant", content: "hello" },
    stop: "eos",
    tokens: { input: 10, output: 5 },
    cached: false,
  });
  assert.equal(asked[0]!.seed, 7);
  const tools = [
    {
      name: "add",
      description: "adds",
      parameters: { type: "object", properties: { a: { type: "number" } } },
    },
  ];
  const { message } = await chat.reply(says("add 1", { tools }));
  assert.deepEqual(message.toolCalls, [{ id: "c1", name: "add", arguments: '{"a":1}' }]);
  assert.equal(asked[1]!.tools?.length, 1);
  // 10 · $1 + 5 · $2 per million, twice
  const { usd, ...spent } = chat.spent();
  assert.deepEqual(spent, { calls: 2, cachedCalls: 0, inputTokens: 20, outputTokens: 10 });
  assert.ok(Math.abs(usd - 40e-6) < 1e-12);
});

test("a conversation with calls and answers goes out as it was", async () => {
  const { model, asked } = await provider(() => "three");
  await chatModel({ model }).reply({
    messages: [
      { role: "system", content: "be short" },
      { role: "user", content: "1 + 2" },
      { role: "assistant", content: "", toolCalls: [{ id: "x", name: "add", arguments: '{"a":1,"b":2}' }] },
      { role: "tool", content: "3", toolCallId: "x" },
    ],
  });
  assert.deepEqual(
    asked[0]!.messages.map((m) => m.role),
    ["system", "user", "assistant", "tool"],
  );
  assert.match(JSON.stringify(asked[0]!.messages[2]), /"name":"add".*"a\\":1/);
});

test("what may pass is tried again, what will not is not", async () => {
  const flaky = await provider((_, n, response) => {
    if (n === 2) return "third time";
    response.statusCode = n === 0 ? 429 : 503;
    response.end("{}");
    return undefined;
  });
  const { message } = await chatModel({ model: flaky.model, ...quick }).reply(says("hi"));
  assert.equal(message.content, "third time");

  const refused = await provider((_, __, response) => {
    response.statusCode = 400;
    response.end('{"error":{"message":"too long"}}');
    return undefined;
  });
  await assert.rejects(chatModel({ model: refused.model, ...quick }).reply(says("hi")), code("chat.failed"));
  assert.equal(refused.asked.length, 1);
});

test("a provider that asks to wait is not asked before", async () => {
  const { model, times } = await provider((_, n, response) => {
    if (n === 1) return "now";
    response.statusCode = 429;
    response.setHeader("retry-after-ms", "300");
    response.end("{}");
    return undefined;
  });
  await chatModel({ model, ...quick }).reply(says("hi"));
  assert.ok(times[1]! - times[0]! >= 300, `${times[1]! - times[0]!} ms`);
});

test("an attempt that hangs is given up and made again; a lost connection too", async () => {
  const { model, asked } = await provider((_, n, response) => {
    if (n === 1) response.destroy();
    return n >= 2 ? "at last" : undefined;
  });
  const chat = chatModel({ model, ...quick, timeoutSeconds: 1 });
  assert.equal((await chat.reply(says("hi"))).message.content, "at last");
  assert.equal(asked.length, 3);
});

test("a stop ends what is under way, with its own reason", async () => {
  const { model } = await provider(() => undefined);
  const stop = new AbortController();
  const reason = new Error("enough");
  const waiting = chatModel({ model, stop: stop.signal }).reply(says("hi"));
  setTimeout(() => stop.abort(reason), 50);
  await assert.rejects(waiting, (e) => e === reason);
});

test("two processes that ask the same at the same time both have their reply, and keep one of them", async () => {
  const { model, asked } = await provider(() => "x".repeat(20_000));
  const cache = folder();
  // as in two processes: nothing but the folder is shared
  const both = Array.from({ length: 8 }, () => chatModel({ model, cache }));
  for (let round = 0; round < 4; round++)
    await Promise.all(both.map((chat) => chat.reply(says(`question ${round}`))));
  assert.equal(asked.length, 32);
  assert.equal((await chatModel({ model, cache }).reply(says("question 0"))).cached, true);
});

test("the limit holds before a call is made, over all models that share it, and the cache is not charged", async () => {
  const { model, asked } = await provider((_, n) => `reply ${n}`);
  const shared = budget({ calls: 3 });
  const cache = folder();
  const [policy, judge] = ["policy", "judge"].map((id) => chatModel({ model, id, budget: shared, cache }));
  await policy!.reply(says("a"));
  await judge!.reply(says("a"));
  await policy!.reply(says("b"));
  await assert.rejects(judge!.reply(says("b")), code("budget.spent"));
  assert.equal((await policy!.reply(says("a"))).cached, true);
  assert.equal(asked.length, 3);
  assert.deepEqual([shared.spent().calls, shared.spent().cachedCalls], [3, 1]);
});

test("a limit in dollars is never passed, whatever comes at once, and used as far as a call may need", async () => {
  const { model, asked } = await provider(() => "five");
  // the longest reply costs $0.10, each real one $0.005: what may be spent is set aside before, so that two are under way
  // at a time, and the others wait until what was spent and the longest reply no longer fit
  const limited = budget({ usd: 0.25 });
  const chat = chatModel({
    model,
    budget: limited,
    price: { input: 0, output: 1000 },
    maxTokens: 100,
    ...quick,
  });
  const all = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => chat.reply(says(`${i}`))));
  const paid = all.filter((r) => r.status === "fulfilled").length;
  assert.ok(paid >= 30 && paid <= 31, `${paid} paid`);
  assert.equal(asked.length, paid);
  assert.ok(chat.spent().usd > 0.149 && chat.spent().usd <= 0.25);
  for (const r of all) if (r.status === "rejected") assert.ok(code("budget.spent")(r.reason));
});

test("what cannot be read, or does not say what it used, is charged with what it may have cost; a refusal is not", async () => {
  const { model } = await provider((_, n, response) => {
    if (n === 0) response.statusCode = 400;
    response.setHeader("content-type", "application/json");
    const message = { role: "assistant", content: "ok" };
    const whole = { id: "r", choices: [{ index: 0, message, finish_reason: "stop" }] };
    response.end(n === 0 ? "{}" : n === 1 ? '{"choices":' : JSON.stringify(whole));
    return undefined;
  });
  const chat = chatModel({ model, maxTokens: 100, retries: 0, budget: budget({ tokens: 350 }) });
  await assert.rejects(chat.reply(says("a")), code("chat.failed"));
  assert.equal(chat.spent().outputTokens, 0);
  await assert.rejects(chat.reply(says("b")), code("chat.failed"));
  assert.equal(chat.spent().outputTokens, 100);
  assert.equal((await chat.reply(says("c"))).message.content, "ok");
  assert.equal(chat.spent().outputTokens, 200);
  // the prompt is counted as well: a third such call no longer fits
  await assert.rejects(Promise.all(["d", "e"].map((text) => chat.reply(says(text)))), code("budget.spent"));
});

test("equal requests are one, now and in the next run; other seeds and damaged files are asked again", async () => {
  const { model, asked } = await provider((_, n) => `reply ${n}`);
  const cache = folder();
  const chat = chatModel({ model, cache });
  const both = await Promise.all([chat.reply(says("a", { seed: 1 })), chat.reply(says("a", { seed: 1 }))]);
  assert.deepEqual(
    both.map((r) => r.message.content),
    ["reply 0", "reply 0"],
  );
  const later = chatModel({ model, cache });
  assert.equal((await later.reply(says("a", { seed: 1 }))).message.content, "reply 0");
  assert.equal((await later.reply(says("a", { seed: 2 }))).message.content, "reply 1");
  assert.equal(asked.length, 2);
  for (const name of readdirSync(cache, { recursive: true, withFileTypes: true }))
    if (name.isFile()) writeFileSync(join(name.parentPath, name.name), '{"message":');
  assert.equal((await later.reply(says("a", { seed: 1 }))).message.content, "reply 2");
});

test("no more at once, and no more a minute, than was said", async () => {
  let [now, most] = [0, 0];
  const { model, times } = await provider((_, __, response) => {
    most = Math.max(most, ++now);
    setTimeout(() => {
      now--;
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          id: "r",
          choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
        }),
      );
    }, 20);
    return undefined;
  });
  const chat = chatModel({ model, concurrency: 2 });
  await Promise.all(Array.from({ length: 6 }, (_, i) => chat.reply(says(`${i}`))));
  assert.equal(most, 2);
  const stop = new AbortController();
  const slow = chatModel({ model, requestsPerMinute: 3, stop: stop.signal });
  const all = Array.from({ length: 5 }, (_, i) => slow.reply(says(`slow ${i}`)));
  const settled = Promise.allSettled(all);
  await Promise.all(all.slice(0, 3));
  await new Promise((go) => setTimeout(go, 200));
  assert.equal(times.length, 6 + 3);
  stop.abort(new Error("enough"));
  assert.deepEqual(
    (await settled).map((r) => r.status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"],
  );
});

const judgement = z.object({ good: z.boolean(), why: z.string() });

test("a reply as data: fenced, mended once, or nothing", async () => {
  const replies = [
    'Sure:\n```json\n{"good": true, "why": "short"}\n```',
    "I think it is good.",
    '{"good": false, "why": "long"}',
    '{"good": "yes"}',
    "no",
  ];
  const { model, asked } = await provider((_, n) => replies[n]!);
  const chat = chatModel({ model });
  assert.deepEqual(await chat.ask(says("judge a"), judgement), { good: true, why: "short" });
  assert.deepEqual(await chat.ask(says("judge b"), judgement), { good: false, why: "long" });
  assert.equal(asked[2]!.messages.length, 4, "schema, question, reply, what is wrong with it");
  assert.equal(await chat.ask(says("judge c"), judgement), undefined);
  assert.equal(asked.length, 5);
});
