import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { pairRows } from "../../src/common/tokens/pack.ts";
import { type Json, objectOf } from "../../src/core/json.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { isRefusal, readRequest } from "../../src/env/agent/request.ts";
import { modelBackend, openaiServer, type Sampler } from "../../src/serve/openaiServer.ts";
import type { PlaceLimits } from "../../src/serve/places.ts";

const engine = localEngine({
  threads: 1,
  size: { width: 16, layers: 1, heads: 1, kvHeads: 1, feedForward: 16 },
});
const model = await engine.create({
  id: "tiny",
  seed: 1,
  vocabulary: ["the cat sat on mat"],
  contextTokens: 24,
});
const server = await openaiServer(model, { maxTokens: 6 });
const { openai } = server;
const client = new OpenAI({ ...openai, maxRetries: 0 });
const provider = createOpenAICompatible({ ...openai, includeUsage: true });
const messages = [{ role: "user", content: "the cat" }] as const;
after(async () => {
  await server.close();
  await engine.dispose();
});

const exact = z.object({
  prompt_token_ids: z.array(z.int()),
  choices: z.array(
    z.object({
      token_ids: z.array(z.int()),
      logprobs: z.object({ content: z.array(z.object({ logprob: z.number() })) }),
    }),
  ),
});

test("openaiServer samples from the model: the tokens and log-probabilities are its own", async () => {
  const body = {
    model: "tiny",
    messages: [...messages],
    n: 3,
    seed: 7,
    logprobs: true,
    return_token_ids: true,
  };
  const { prompt_token_ids, choices } = exact.parse(await client.chat.completions.create(body));
  const prompt = Int32Array.from(prompt_token_ids);
  assert.deepEqual(prompt, model.codec.open(messages));
  const rows = pairRows(choices.map(({ token_ids }) => ({ prompt, target: Int32Array.from(token_ids) })));
  const { logp } = await model.score(rows);
  const told = choices.flatMap(({ logprobs }) => logprobs.content.map((t) => t.logprob));
  assert.equal(told.length, logp.length);
  told.forEach((x, i) => {
    assert.ok(Math.abs(x - logp[i]!) < 1e-4);
  });
  assert.ok(new Set(choices.map((c) => c.token_ids.join())).size > 1, "n different replies");
});

test("openaiServer: equal seeds give equal replies, however they are fetched; without one they differ", async () => {
  const ask = async (more: object): Promise<string | null> => {
    const { choices } = await client.chat.completions.create({
      model: "m",
      messages: [...messages],
      ...more,
      stream: false,
    });
    return choices[0]!.message.content;
  };
  const said = await ask({ seed: 3 });
  assert.equal(await ask({ seed: 3 }), said);
  const stream = await client.chat.completions.create({
    model: "m",
    messages: [...messages],
    seed: 3,
    stream: true,
  });
  let streamed = "";
  for await (const { choices } of stream) streamed += choices[0]?.delta.content ?? "";
  assert.equal(streamed, said);
  const asked = { model: provider("m"), prompt: "the cat", seed: 3, maxRetries: 0 };
  const generated = await generateText(asked);
  assert.equal(generated.text, said);
  const flow = streamText(asked);
  assert.equal(await flow.text, said);
  const { inputTokens, outputTokens } = await flow.usage;
  assert.deepEqual([inputTokens, outputTokens], [generated.usage.inputTokens, generated.usage.outputTokens]);
  assert.equal(inputTokens, model.codec.open(messages).length);
  const free = await Promise.all([1, 2, 3, 4].map(() => ask({})));
  assert.ok(new Set(free).size > 1);
});

test("openaiServer keeps to limits, and says in the protocol's words what it cannot do", async () => {
  const long = { model: "m", messages: [{ role: "user", content: "the cat ".repeat(20) }] } as const;
  await assert.rejects(client.chat.completions.create({ ...long, messages: [...long.messages] }), {
    status: 400,
    code: "context_length_exceeded",
  });
  const { choices, usage } = await client.chat.completions.create({
    model: "m",
    messages: [...messages],
    max_completion_tokens: 1,
    seed: 1,
  });
  assert.equal(usage?.completion_tokens, 1);
  assert.ok(choices[0]!.finish_reason === "length" || choices[0]!.message.content === "");
  const { data } = await client.models.list();
  assert.deepEqual(
    data.map(({ id }) => id),
    ["tiny"],
  );
  await assert.rejects(new OpenAI({ ...openai, apiKey: "other", maxRetries: 0 }).models.list(), {
    status: 401,
  });
});

/** The answer of a backend to a conversation, without a network. */
const answerOf = (sampler: Sampler, body: Json, limits: PlaceLimits) => {
  const call = readRequest(body);
  assert.ok(!isRefusal(call));
  return modelBackend(sampler, { limits }).complete(call, new AbortController().signal, () => {});
};

test("more replies than there are places are sampled in turns", async () => {
  const sizes: number[] = [];
  const counting: Sampler = {
    ...model,
    sample(requests, watch) {
      sizes.push(requests.length);
      return model.sample(requests, watch);
    },
  };
  const body = { model: "m", messages: [...messages], n: 7, max_tokens: 2, seed: 3 };
  const texts = async (atOnce: number) => {
    const answer = await answerOf(counting, body, { atOnce, waiting: 1 });
    assert.ok(answer.kind === "completed");
    return answer.completions.map(({ text }) => text);
  };
  const together = await texts(16);
  assert.deepEqual(await texts(3), together);
  assert.deepEqual(sizes, [7, 3, 3, 1]);
});

test("long tools and calls are refused before anybody reads them, as long messages are", async () => {
  let reads = 0;
  const counting: Sampler = {
    ...model,
    async read() {
      reads++;
      return new Int32Array([1]);
    },
  };
  const long = "word ".repeat(10_000);
  const asked = { id: "1", type: "function", function: { name: "look", arguments: long } };
  const bodies: Json[] = [
    { messages: [{ role: "user", content: long }] },
    { messages: [...messages], tools: [{ type: "function", function: { name: "look", description: long } }] },
    { messages: [...messages, { role: "assistant", content: "", tool_calls: [asked] }] },
    { messages: [{ role: "user", content: "a", name: long }] },
  ];
  for (const body of bodies) {
    const answer = await answerOf(counting, { model: "m", ...objectOf(body) }, { atOnce: 1, waiting: 1 });
    assert.ok(answer.kind === "refused");
    assert.equal(answer.code, "context_length_exceeded");
  }
  assert.equal(reads, 0);
});
