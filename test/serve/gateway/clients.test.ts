import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import type { ServedResponse } from "../../../src/core/served.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import { policy } from "../../../src/serve/gateway/policy.ts";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { openaiServer } from "../../../src/serve/openaiServer.ts";
import { scripted, world } from "./world.ts";

/** An upstream that looks a word up in two steps, and says what it found. */
const looksUp = await scripted((body, response) => {
  const messages = body.messages as { role: string; content: string }[];
  const found = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  const calls = [
    [
      { id: "call_1", name: "look", arguments: '{"word": "cat"}' },
      { id: "call_2", name: "look", arguments: '{"word": "dog"}' },
    ],
    [{ id: "call_3", name: "look", arguments: '{"word":"bird"}' }],
  ][found.length === 0 ? 0 : found.length === 2 ? 1 : 2];
  if (body.stream === true) streamed(response, calls, found.join(" "));
  else spoken(response, calls, found.join(" "));
});
type Calls =
  | readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  | undefined;

function spoken(response: ServerResponse, calls: Calls, content: string): void {
  const toolCalls = calls?.map(({ id, ...named }) => ({ id, type: "function", function: named }));
  const message = { role: "assistant", content: calls ? null : content, tool_calls: toolCalls };
  response.writeHead(200, { "content-type": "application/json" }).end(
    JSON.stringify({
      id: "x",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message, finish_reason: calls ? "tool_calls" : "stop" }],
    }),
  );
}

/** Names first, arguments in pieces after them, as providers do it. */
function streamed(response: ServerResponse, calls: Calls, content: string): void {
  const send = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ role: "assistant", content: calls ? null : "" });
  for (const word of calls ? [] : content.split(/(?= )/)) send({ content: word });
  calls?.forEach(({ id, name, arguments: given }, index) => {
    send({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of given.match(/.{1,4}/g)!)
      send({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  send({}, calls ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}

const engine = localEngine({
  threads: 1,
  size: { width: 16, layers: 1, heads: 1, kvHeads: 1, feedForward: 16 },
});
const model = await engine.create({
  id: "tiny",
  seed: 1,
  vocabulary: ["the cat sat on mat"],
  contextTokens: 48,
});
const server = await openaiServer(model, { key: "upstream's", maxTokens: 6 });
const behind = { url: server.openai.baseURL, key: "upstream's", exact: "raw" } as const;
const gate = await world({ tiny: upstream(behind) });
const own = await world({ own: policy(model, { maxTokens: 6, seed: 5 }) });
const tools = await world({ main: upstream({ url: looksUp.url }) });
after(async () => {
  for (const each of [gate, own, tools, looksUp, server]) await each.close();
  await engine.dispose();
});

const clientOf = (url: string): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "anything", maxRetries: 0 });
const messages = [{ role: "user", content: "the cat" }] as const;
const plain = { model: "m", messages: [...messages], seed: 3 };
const last = ({ responses }: { readonly responses: readonly ServedResponse[] }) => responses.at(-1)!;

for (const [name, at] of [
  ["an upstream that gives exact tokens", gate],
  ["a policy in this process", own],
] as const) {
  test(`openai's client through ${name}: tokens are recorded that it does not see`, async () => {
    const client = clientOf(at.url);
    const made = await client.chat.completions.create({ ...plain, n: 2, temperature: 1 });
    const direct = await new OpenAI({ ...server.openai, maxRetries: 0 }).chat.completions.create({
      ...plain,
      n: 2,
      temperature: 1,
      logprobs: true,
    });
    const text = (c: OpenAI.ChatCompletion) => c.choices.map(({ message }) => message.content);
    assert.deepEqual(text(made), text(direct));
    assert.deepEqual(made.usage, direct.usage);
    assert.equal("prompt_token_ids" in made, false);
    const response = last(at);
    assert.equal(response.id, made.id);
    for (const [i, { message, tokens }] of response.choices.entries()) {
      assert.equal("token_ids" in made.choices[i]!, false);
      assert.equal(made.choices[i]!.logprobs, null);
      assert.equal(message.content, text(direct)[i]);
      assert.deepEqual(tokens!.prompt, model.codec.open(messages));
      const told = direct.choices[i]!.logprobs!.content!.map(({ logprob }) => logprob);
      assert.deepEqual([...tokens!.logp], told);
      assert.deepEqual(tokens!.behaviour, tokens!.logp);
    }
    // the one asks for log-probabilities of its own, which are of the model's distribution
    assert.deepEqual(response.tags["whetstone.logprobs"], at === gate ? "raw" : undefined);
  });

  test(`openai's client through ${name}: a stream, with what was asked for and no more`, async () => {
    const client = clientOf(at.url);
    const whole = await client.chat.completions.create(plain);
    const stream = await client.chat.completions.create({ ...plain, stream: true, logprobs: true });
    let text = "";
    let logprobs = 0;
    for await (const chunk of stream) {
      assert.equal("token_ids" in (chunk.choices[0] ?? {}), false);
      assert.equal("usage" in chunk, false);
      assert.ok(chunk.choices.length > 0);
      text += chunk.choices[0]?.delta.content ?? "";
      logprobs += chunk.choices[0]?.logprobs?.content?.length ?? 0;
    }
    assert.equal(text, whole.choices[0]!.message.content);
    const [, recorded] = at.responses.slice(-2);
    assert.equal(recorded!.choices[0]!.message.content, text);
    assert.equal(recorded!.choices[0]!.tokens!.action.length, logprobs);
    if (at === gate) assert.deepEqual(recorded!.usage?.output, logprobs);
  });

  test(`the AI SDK through ${name}: text, streams and JSON`, async () => {
    const provider = createOpenAICompatible({ name: "w", baseURL: `${at.url}/session/s 1/v1` });
    const asked = { model: provider("m"), prompt: "the cat", seed: 3, maxRetries: 0 };
    const { text, response } = await generateText(asked);
    assert.equal(last(at).id, response.id);
    assert.equal(await streamText(asked).text, text);
    assert.equal(last(at).session, "s 1");
    const client = clientOf(at.url);
    const format = { type: "json_object" } as const;
    const made = await client.chat.completions.create({ ...plain, response_format: format });
    assert.equal(last(at).choices[0]!.message.content, made.choices[0]!.message.content);
    assert.deepEqual(last(at).settings.response_format, format);
  });
}

const look = { word: z.string() };
const expected = ["look", "look", "look", "CAT DOG BIRD"];
/** What one episode should have left: three turns of one trajectory. */
function isOneTrajectory(before: number): void {
  const made = tools.responses.slice(before);
  assert.deepEqual(
    made.map(({ turn, trajectory }) => [turn, trajectory]),
    [0, 1, 2].map((turn) => [turn, made[0]!.trajectory]),
  );
  const said = made.flatMap(({ choices }) => {
    const { content, toolCalls } = choices[0]!.message;
    return toolCalls?.map(({ name }) => name) ?? [content];
  });
  assert.deepEqual(said, expected);
  assert.deepEqual(made[0]!.choices[0]!.message.toolCalls?.[1]?.arguments, '{"word": "dog"}');
  assert.deepEqual(
    made[0]!.prompt[0]!.tools?.map(({ name }) => name),
    ["look"],
  );
}

test("an agent of openai's client makes an episode with tools that is one trajectory, streamed or not", async () => {
  const client = clientOf(tools.url);
  for (const stream of [false, true]) {
    const before = tools.responses.length;
    const conversation: OpenAI.ChatCompletionMessageParam[] = [
      { role: "system", content: "Look words up." },
      { role: "user", content: `What are they? ${stream}` },
    ];
    const declared: OpenAI.ChatCompletionTool[] = [
      { type: "function", function: { name: "look", parameters: z.toJSONSchema(z.object(look)) } },
    ];
    for (let step = 0; step < 3; step++) {
      const body = { model: "m", messages: conversation, tools: declared };
      const { choices } = stream
        ? await client.chat.completions.stream(body).finalChatCompletion()
        : await client.chat.completions.create(body);
      const { message } = choices[0]!;
      conversation.push(message);
      for (const call of message.tool_calls ?? []) {
        assert.equal(call.type, "function");
        const { word } = JSON.parse(call.type === "function" ? call.function.arguments : "{}");
        conversation.push({ role: "tool", tool_call_id: call.id, content: word.toUpperCase() });
      }
    }
    isOneTrajectory(before);
  }
});

test("an agent of the AI SDK makes an episode with tools that is one trajectory, streamed or not", async () => {
  const provider = createOpenAICompatible({ name: "w", baseURL: `${tools.url}/v1` });
  for (const stream of [false, true]) {
    const before = tools.responses.length;
    const asked = {
      model: provider("m"),
      instructions: "Look words up.",
      prompt: `And those? ${stream}`,
      tools: {
        look: tool({ inputSchema: z.object(look), execute: async ({ word }) => word.toUpperCase() }),
      },
      stopWhen: isStepCount(5),
      maxRetries: 0,
    };
    const text = stream ? await streamText(asked).text : (await generateText(asked)).text;
    assert.equal(text, "CAT DOG BIRD");
    isOneTrajectory(before);
  }
});
