// A policy of this process behind the gateway: several people talk with it at once.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, test } from "node:test";
import OpenAI from "openai";
import { localEngine } from "../../../src/engine/local/index.ts";
import { policy } from "../../../src/serve/gateway/policy.ts";
import type { Sampler } from "../../../src/serve/openaiServer.ts";
import { world } from "./world.ts";

const engine = localEngine({
  threads: 1,
  size: { width: 16, layers: 1, heads: 1, kvHeads: 1, feedForward: 16 },
  prefixCache: 2 ** 20,
});
const words = Array.from({ length: 200 }, (_, i) => `w${i}`);
const model = await engine.create({
  id: "tiny",
  seed: 2,
  vocabulary: [words.join(" ")],
  contextTokens: 2048,
});
/** Ids of words, since a model that has learnt nothing ends its replies anywhere. */
const spoken = words.map((word) => model.codec.encode(word)[0]!).toSorted((a, b) => a - b);
const allowed = new Array<Int32Array>(1500).fill(Int32Array.from(spoken));
const talkative: Sampler = {
  ...model,
  sample: (requests, watch) =>
    model.sample(
      requests.map((asked) => ({ ...asked, allowed })),
      watch,
    ),
};
const limits = { atOnce: 2, waiting: 1 };
const at = await world({ own: policy(talkative, { seed: 5, limits }) });
after(async () => {
  await at.close();
  await engine.dispose();
});
const client = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: "anything", maxRetries: 0 });

const say = (content: string): OpenAI.ChatCompletionMessageParam => ({ role: "user", content });
const text = (count: number, salt: number): string =>
  Array.from({ length: count }, (_, i) => words[(i * 7 + salt) % words.length]).join(" ");
const ask = (messages: OpenAI.ChatCompletionMessageParam[], more: object = {}) =>
  client.chat.completions.create({ model: "m", messages, temperature: 0, ...more, stream: false });

/** A reply that takes its time. */
const endless = { temperature: 0, max_tokens: 1500 };

/** Waits until so many calls are recorded as having ended so. */
async function ended(count: number, status: string): Promise<void> {
  while (at.responses.filter((one) => one.status === status).length < count) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("a stream is the reply in pieces, with its tokens counted and recorded", async () => {
  const messages = [say("w1 w2")];
  const whole = await ask(messages, { max_tokens: 40 });
  const stream = await client.chat.completions.create({
    ...{ model: "m", messages, temperature: 0, max_tokens: 40 },
    ...{ stream: true as const, stream_options: { include_usage: true } },
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.content || []);
  assert.ok(pieces.length > 5, `${pieces.length} pieces`);
  assert.equal(pieces.join(""), whole.choices[0]!.message.content);
  assert.deepEqual(chunks.map(({ choices }) => choices[0]?.finish_reason ?? null).slice(-2), [
    "length",
    null,
  ]);
  assert.deepEqual(chunks.at(-1)!.usage, whole.usage);
  assert.equal(whole.usage?.completion_tokens, 40);
  const { choices, status } = (await at.recorded(2))[1]!;
  assert.equal(status, "complete");
  assert.equal(choices[0]?.tokens?.action.length, 40);
});

test("what users of one system prompt have in common is read once, and so are earlier turns", async () => {
  const system: OpenAI.ChatCompletionMessageParam = { role: "system", content: text(300, 1) };
  const cached = ({ usage }: OpenAI.ChatCompletion) => usage?.prompt_tokens_details?.cached_tokens;
  const first = await ask([system, say("w5")]);
  assert.equal(cached(first), 0);
  const turn = [system, say("w5"), { ...first.choices[0]!.message }, say("w6")];
  const second = await ask(turn);
  const { prompt_tokens = 0 } = second.usage!;
  assert.ok(cached(second)! > prompt_tokens - 40, `${cached(second)} of ${prompt_tokens}`);
  assert.equal(cached(await ask([system, say("w9 w9")])), 288, "whole blocks of the system prompt");
});

test("replies are written side by side; one whose client has gone makes room, and a crowd is refused", async () => {
  const before = at.responses.length;
  const leaving = new AbortController();
  const streams = await Promise.all(
    [1, 2].map((salt) =>
      client.chat.completions.create(
        { model: "m", messages: [say(text(5, salt))], ...endless, stream: true },
        salt === 1 ? { signal: leaving.signal } : {},
      ),
    ),
  );
  const [left, stays] = streams.map((stream) => stream[Symbol.asyncIterator]());
  // both are under way before either ends
  for (const one of [left!, stays!]) for (let i = 0; i < 3; i++) assert.equal((await one.next()).done, false);
  assert.equal(at.responses.length, before);
  const waits = ask([say("w3")], { max_tokens: 2 });
  // a turn of the event loop, so that it waits before the next one comes
  await new Promise((resolve) => setTimeout(resolve, 50));
  const refused = await client.chat.completions
    .create({ model: "m", messages: [say("w4")], max_tokens: 2 })
    .then(
      () => assert.fail("answered"),
      (e: unknown) => e,
    );
  assert.ok(refused instanceof OpenAI.APIError);
  assert.equal(refused.status, 429);
  assert.equal(refused.code, "too_many_requests");
  assert.equal(refused.headers?.get("retry-after"), "1");
  assert.equal(refused.headers?.get("x-should-retry"), null);
  leaving.abort();
  assert.equal((await waits).usage?.completion_tokens, 2);
  await ended(1, "cut");
  let more = 0;
  for (let next = await stays!.next(); !next.done; next = await stays!.next()) more++;
  assert.ok(more > 20, "the others were answered while it went on");
  assert.ok(at.responses.some(({ status, error }) => status === "cut" && /went away/.test(error ?? "")));
});

test("a client that does not read holds up nobody, and one that waits may leave", async () => {
  const body = JSON.stringify({ model: "m", messages: [say("w7")], ...endless, stream: true });
  const deaf = [1, 2].map(() => {
    const asking = request(`${at.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    asking.on("error", () => undefined);
    // the response is never read
    asking.on("response", (response) => response.pause());
    asking.end(body);
    return asking;
  });
  const cut = at.responses.filter(({ status }) => status === "cut").length;
  await Promise.all(deaf.map((asking) => new Promise((resolve) => asking.once("response", resolve))));
  const impatient = new AbortController();
  const waits = client.chat.completions.create(
    { model: "m", messages: [say("w8")], max_tokens: 1 },
    { signal: impatient.signal },
  );
  setTimeout(() => impatient.abort(), 50);
  await assert.rejects(waits, /abort/i);
  await ended(cut + 1, "cut");
  // its place among those that wait is free, and the deaf ones end by themselves
  assert.equal((await ask([say("w9")], { max_tokens: 3 })).usage?.completion_tokens, 3);
  for (const asking of deaf) asking.destroy();
});
