/** A provider that is not there, refuses, or stops to answer: it is asked no more, and is not charged. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { randomStream } from "../../../src/core/random.ts";
import { budget } from "../../../src/engine/chat/budget.ts";
import { type ChatOptions, chatModel } from "../../../src/engine/chat/chat.ts";
import { evaluate } from "../../../src/train/evaluate.ts";
import { echo, withCode } from "../../train/world.ts";
import { provider } from "./provider.ts";

const says = (content: string): ChatRequest => ({ messages: [{ role: "user", content }] });
const quick = { backoffSeconds: 0.01 };
const at = (baseURL: string) => createOpenAICompatible({ name: "here", baseURL })("tiny");

/** Answers with these statuses in turn, 200 for good ones, and with the last one from then on. */
const answering = (...statuses: readonly number[]) =>
  provider((_, n, response) => {
    const status = statuses[Math.min(n, statuses.length - 1)]!;
    if (status === 200) return "yes";
    response.statusCode = status;
    response.end('{"error":{"message":"not you"}}');
    return undefined;
  });

/** Asks this many different things, at once or in turn; what came of each, and of the same model asked once more. */
async function asked(options: ChatOptions, requests: number, inTurn = false) {
  const chat = chatModel({ ...quick, ...options });
  const ask = (i: number): Promise<string> =>
    chat.reply(says(`question ${i}`)).then(
      () => "answered",
      (e: { readonly code: string }) => e.code,
    );
  const all: Promise<string>[] = [];
  for (let i = 0; i < requests; i++) {
    all.push(ask(i));
    if (inTurn) await all.at(-1);
  }
  const ends = await Promise.all(all);
  const { calls, inputTokens, outputTokens } = chat.spent();
  return { chat, ends, spent: { calls, inputTokens, outputTokens } };
}
const nothing = { calls: 0, inputTokens: 0, outputTokens: 0 };

test("nobody at the address: every request ends at the first, naming it, and nothing is charged", async () => {
  const closed = createServer().listen(0);
  const address = closed.address();
  const port = typeof address === "object" && address ? address.port : 0;
  await new Promise((go) => closed.close(go));
  const urls = [
    [`http://127.0.0.1:${port}/v1`, /ECONNREFUSED/],
    ["http://127.0.0.1:1/v1", /could not connect\./], // one that fetch never asks
    ["http://no-such-host.invalid/v1", /ENOTFOUND|EAI_AGAIN/],
  ] as const;
  for (const [url, got] of urls) {
    const began = performance.now();
    const { chat, ends, spent } = await asked({ model: at(url) }, 20);
    assert.deepEqual([...new Set(ends)], ["provider.gone"]);
    assert.deepEqual(spent, nothing);
    assert.ok(performance.now() - began < 15_000);
    await assert.rejects(
      chat.reply(says("again")),
      withCode("provider.gone", new RegExp(`^${url}.*${got.source}.*Check the address`)),
    );
  }
});

test("a key or a path that is refused ends all at the first answer; a request that is, at the third", async () => {
  for (const [status, most, fix] of [
    [401, 8, /401, "not you".*Check the key in SOME_KEY/],
    [403, 8, /403.*Check the key/],
    [404, 8, /404.*Check the address.*model's name/],
    [400, 8, /400.*options that it supports/],
  ] as const) {
    const { model, asked: came } = await answering(status);
    const { chat, ends, spent } = await asked({ model, key: "in SOME_KEY" }, 40);
    assert.ok(ends.filter((end) => end === "chat.failed").length <= 2, `${status}: ${ends}`);
    assert.ok(ends.includes("provider.gone"));
    assert.deepEqual(spent, nothing);
    assert.ok(came.length <= most, `${came.length} requests`);
    await assert.rejects(chat.reply(says("again")), withCode("provider.gone", fix));
  }
});

test("a page in place of an API is found out, too", async () => {
  const { model } = await provider((_, __, response) => void response.end("<html>"));
  const { ends } = await asked({ model }, 12);
  assert.equal(ends.at(-1), "provider.gone");
});

test("one request that is refused among others costs its own reply, at the first call and later", async () => {
  const { model } = await answering(400, 200, 200, 400, 400, 400, 400, 200);
  const { ends, spent } = await asked({ model, concurrency: 1 }, 8);
  assert.deepEqual(
    ends.map((end) => end === "answered"),
    [false, true, true, false, false, false, false, true],
  );
  assert.deepEqual(spent, { calls: 3, inputTokens: 30, outputTokens: 15 });
});

test("a key that is taken away later ends it at the third refusal in a row", async () => {
  const { model } = await answering(200, 401, 200, 401, 401, 401);
  const { ends } = await asked({ model, concurrency: 1 }, 8);
  const failed = "chat.failed";
  const gone = "provider.gone";
  assert.deepEqual(ends, ["answered", failed, "answered", failed, failed, gone, gone, gone]);
});

test("an outage that passes costs at most the requests in it; one that does not ends all", async () => {
  const short = await answering(200, 503, 503, 200);
  const { ends } = await asked({ model: short.model, concurrency: 1 }, 3);
  assert.deepEqual(ends, ["answered", "answered", "answered"]);

  const long = await answering(200, 503);
  const options = {
    model: long.model,
    concurrency: 1,
    retries: 1,
    backoffSeconds: 0.05,
    patienceSeconds: 0.4,
  };
  const cut = await asked(options, 30, true);
  assert.equal(cut.ends[0], "answered");
  assert.equal(cut.ends[1], "chat.failed");
  assert.equal(cut.ends.at(-1), "provider.gone");
  assert.deepEqual(cut.spent, { calls: 1, inputTokens: 10, outputTokens: 5 });
  await assert.rejects(cut.chat.reply(says("again")), withCode("provider.gone", /503, "not you"/));
});

test("a provider that takes requests and never answers is given up, and not charged", async () => {
  const { model } = await provider(() => undefined);
  const { ends, spent } = await asked({ model, timeoutSeconds: 0.3, patienceSeconds: 0.5 }, 12);
  assert.deepEqual([...new Set(ends)], ["provider.gone"]);
  assert.deepEqual(spent, nothing);
});

test("calls that are refused leave their room to others", async () => {
  const { model } = await answering(400, 200);
  const { ends } = await asked({ model, concurrency: 1, budget: budget({ calls: 2 }) }, 4);
  assert.deepEqual(ends, ["chat.failed", "answered", "answered", "budget.spent"]);
});

test("an environment whose user is such a model ends the evaluation, not its episodes one by one", async () => {
  const { model, asked: came } = await answering(401);
  const chat = chatModel({ model, ...quick });
  const environment = echo();
  const talking = {
    ...environment,
    start: async (...args: Parameters<typeof environment.start>) => {
      await chat.reply(says("what do you want?"));
      return environment.start(...args);
    },
  };
  await assert.rejects(
    evaluate({
      environment: talking,
      agent: () => "red",
      split: "test",
      mode: "sampled",
      tasks: 6,
      random: randomStream(1),
      limit: (work) => work(),
    }),
    withCode("provider.gone", /401/),
  );
  assert.equal(came.length, 1);
});
