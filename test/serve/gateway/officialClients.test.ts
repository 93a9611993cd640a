/**
 * The JavaScript clients of the providers through the gateway, each with its usual calls: text, stream, tools. The upstream writes
 * what the providers do. The table in docs/gateway.md lists what is tested here.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createAzure } from "@ai-sdk/azure";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { embed, generateText, isStepCount, streamText, tool } from "ai";
import OpenAI, { AzureOpenAI } from "openai";
import { z } from "zod";
import { providers } from "./providers.ts";
import { before } from "./world.ts";

const queries: string[] = [];
const at = await before(providers(queries));
after(() => at.close());

const said = (): string => at.responses.at(-1)!.choices[0]!.message.content;
const greeting = /^Grüße \d+$/;
const look = tool({
  description: "Looks up.",
  inputSchema: z.object({ word: z.string() }),
  execute: async ({ word }) => `${word}: an animal`,
});

const base = `${at.url}/v1`;
const models = {
  "@ai-sdk/openai, responses": createOpenAI({ baseURL: base, apiKey: "k" })("m"),
  "@ai-sdk/openai, chat": createOpenAI({ baseURL: base, apiKey: "k" }).chat("m"),
  "@ai-sdk/anthropic": createAnthropic({ baseURL: base, apiKey: "k" })("m"),
  "@ai-sdk/azure, responses": createAzure({ baseURL: `${at.url}/openai`, apiKey: "k" })("m"),
  "@ai-sdk/azure, chat": createAzure({ baseURL: `${at.url}/openai`, apiKey: "k" }).chat("m"),
};

for (const [name, model] of Object.entries(models)) {
  test(`${name}: text, a stream, and a loop with a tool`, async () => {
    const whole = await generateText({ model, prompt: "hello" });
    assert.match(whole.text, greeting);
    assert.equal(said(), whole.text);

    const streamed = streamText({ model, prompt: "hello" });
    assert.match(await streamed.text, greeting);
    await at.recorded(at.responses.length);
    assert.equal(said(), await streamed.text);

    const before = at.responses.length;
    const loop = await generateText({ model, prompt: "cat?", tools: { look }, stopWhen: isStepCount(3) });
    assert.equal(loop.steps.length, 2);
    const [asked, answered] = (await at.recorded(before + 2)).slice(before);
    assert.deepEqual(
      asked!.choices[0]!.message.toolCalls?.map(({ name, arguments: given }) => [name, JSON.parse(given)]),
      [["look", { word: "cat" }]],
    );
    assert.ok(answered!.prompt.some(({ role, content }) => role === "tool" && content.includes("an animal")));
    assert.equal(asked!.trajectory, answered!.trajectory);
  });
}

test("@ai-sdk/openai: completions and embeddings", async () => {
  const provider = createOpenAI({ baseURL: base, apiKey: "k" });
  const { text } = await generateText({ model: provider.completion("m"), prompt: "hello" });
  assert.match(text, greeting);
  assert.equal(said(), text);
  const { embedding } = await embed({ model: provider.embedding("m"), value: "a b" });
  assert.deepEqual(embedding, [0.5, -1]);
});

test("openai: chat completions, responses, completions, embeddings and models", async () => {
  const client = new OpenAI({ baseURL: base, apiKey: "k", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "hello" }];
  const chat = await client.chat.completions.create({ model: "m", messages });
  assert.match(chat.choices[0]!.message.content!, greeting);
  const pieces: string[] = [];
  for await (const { choices } of await client.chat.completions.create({
    model: "m",
    messages,
    stream: true,
  }))
    pieces.push(choices[0]?.delta.content ?? "");
  assert.match(pieces.join(""), greeting);
  const response = await client.responses.create({ model: "m", input: "hello" });
  assert.match(response.output_text, greeting);
  const next = await client.responses.create({
    model: "m",
    input: "and?",
    previous_response_id: response.id,
  });
  assert.match(next.output_text, greeting);
  assert.equal(at.responses.at(-1)!.session, at.responses.at(-2)!.session);
  const streamed = await client.responses.stream({ model: "m", input: "hello" }).finalResponse();
  assert.match(streamed.output_text, greeting);
  const completed = await client.completions.create({ model: "m", prompt: "hello" });
  assert.match(completed.choices[0]!.text, greeting);
  const { data } = await client.embeddings.create({ model: "m", input: "a", encoding_format: "float" });
  assert.deepEqual(data[0]!.embedding, [0.5, -1]);
  assert.deepEqual(
    (await client.models.list()).data.map(({ id }) => id),
    ["m"],
  );
});

test("openai's client of Azure: a deployment in the path, its version in the query, its key in api-key", async () => {
  const client = new AzureOpenAI({
    endpoint: at.url,
    apiKey: "azure-key",
    apiVersion: "2025-04-01-preview",
    deployment: "m",
    maxRetries: 0,
  });
  const messages = [{ role: "user" as const, content: "hello" }];
  const chat = await client.chat.completions.create({ model: "m", messages });
  assert.match(chat.choices[0]!.message.content!, greeting);
  assert.equal(queries.at(-1), "?api-version=2025-04-01-preview");
  assert.equal(at.upstream.headers.at(-1)!["api-key"], "azure-key");
  const { data } = await client.embeddings.create({ model: "m", input: "a", encoding_format: "float" });
  assert.deepEqual(data[0]!.embedding, [0.5, -1]);
});

test("@anthropic-ai/sdk: messages, a stream, a tool, counted tokens", async () => {
  const client = new Anthropic({ baseURL: at.url, apiKey: "k", maxRetries: 0 });
  const body = { model: "m", max_tokens: 100, messages: [{ role: "user" as const, content: "hello" }] };
  const message = await client.messages.create(body);
  const textOf = (content: readonly Anthropic.ContentBlock[]): string =>
    content.map((block) => (block.type === "text" ? block.text : "")).join("");
  assert.match(textOf(message.content), greeting);
  assert.equal(said(), textOf(message.content));
  const streamed = await client.messages.stream(body).finalMessage();
  assert.match(textOf(streamed.content), greeting);
  const tools = [{ name: "look", description: "Looks up.", input_schema: { type: "object" as const } }];
  const called = await client.messages.create({ ...body, tools });
  assert.deepEqual(
    called.content.filter(({ type }) => type === "tool_use"),
    [{ type: "tool_use", id: "toolu_1", name: "look", input: { word: "cat" } }],
  );
  assert.equal(at.responses.at(-1)!.choices[0]!.message.toolCalls?.[0]?.name, "look");
  assert.equal((await client.messages.countTokens({ model: "m", messages: body.messages })).input_tokens, 4);
});

/** What LangChain's models need to be told; they would try again by themselves. */
const langchain = { model: "m", apiKey: "k", maxRetries: 0 } as const;
const openAi = { ...langchain, configuration: { baseURL: base } };
const chains = {
  "@langchain/openai, chat": new ChatOpenAI(openAi),
  "@langchain/openai, responses": new ChatOpenAI({ ...openAi, useResponsesApi: true }),
  "@langchain/anthropic": new ChatAnthropic({ ...langchain, anthropicApiUrl: at.url, maxTokens: 100 }),
};

for (const [name, model] of Object.entries(chains)) {
  test(`${name}: text, a stream and a tool`, async () => {
    const whole = await model.invoke("hello");
    assert.match(whole.text, greeting);
    assert.equal(said(), whole.text);

    let streamed = "";
    for await (const { text } of await model.stream("hello")) streamed += text;
    assert.match(streamed, greeting);
    await at.recorded(at.responses.length);
    assert.equal(said(), streamed);

    const parameters = { type: "object", properties: { word: { type: "string" } } };
    const looking = { type: "function", function: { name: "look", description: "Looks up.", parameters } };
    const { tool_calls: called } = await model.bindTools([looking]).invoke("cat?");
    assert.deepEqual(
      called?.map(({ name, args }) => [name, args]),
      [["look", { word: "cat" }]],
    );
    assert.equal(at.responses.at(-1)!.choices[0]!.message.toolCalls?.[0]?.name, "look");
  });
}

test("@langchain/openai: embeddings", async () => {
  const embeddings = new OpenAIEmbeddings({ ...openAi, encodingFormat: "float" });
  assert.deepEqual(await embeddings.embedDocuments(["a"]), [[0.5, -1]]);
});
