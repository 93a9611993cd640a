import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { writeCall, writeTools } from "../../../src/common/text/toolCalls.ts";
import { trajectoryRows } from "../../../src/common/tokens/pack.ts";
import type { Chat, ChatRequest } from "../../../src/core/chat.ts";
import type { Sample, SampleRequest } from "../../../src/core/model.ts";
import { randomStream } from "../../../src/core/random.ts";
import { actionTokens, type Tool, type Trajectory } from "../../../src/core/types.ts";
import { vocabularyCodec } from "../../../src/engine/tabular/codec.ts";
import { tabularModel } from "../../../src/engine/tabular/model.ts";
import { newWeights } from "../../../src/engine/tabular/weights.ts";
import { type AgentCall, type AgentOptions, agent } from "../../../src/env/agent/agent.ts";
import type { Environment } from "../../../src/env/environment.ts";
import { chatActor, type ModelActorParts, modelActor, scriptActor } from "../../../src/rollout/actor.ts";
import { type EpisodeOptions, playEpisode } from "../../../src/rollout/episode.ts";

type Shop = { readonly item: string; readonly price: string };
const stock: readonly Shop[] = [
  { item: "pear", price: "3" },
  { item: "plum", price: "5" },
];
const priceTool: Tool = {
  name: "price",
  description: "what an item costs",
  parameters: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
};
const options: AgentOptions<Shop, string> = {
  name: "shop",
  tasks: { train: stock, test: stock },
  reward: ({ price }, said) => Number(said === price),
  limits: { turns: 6, actionTokens: 12, seconds: 20 },
  expert: ({ item }, conversation) => {
    const last = conversation.at(-1);
    return last?.role === "tool" ? last.content : writeCall("price", { item });
  },
};

/** Asks for the price with the official client, in a loop, as its documentation shows it. */
async function withClient({ task, openai }: AgentCall<Shop>): Promise<string> {
  const client = new OpenAI(openai);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: task.item }];
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: "function", function: { ...priceTool, parameters: {} } },
  ];
  for (;;) {
    const { choices } = await client.chat.completions.create({ model: openai.model, messages, tools });
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls) return message.content ?? "";
    for (const { id } of message.tool_calls)
      messages.push({ role: "tool", tool_call_id: id, content: task.price });
  }
}

/** The same with the AI SDK. */
async function withSdk({ task, openai }: AgentCall<Shop>): Promise<string> {
  const { text } = await generateText({
    model: createOpenAICompatible(openai)(openai.model),
    prompt: task.item,
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    tools: {
      price: tool({
        description: "what an item costs",
        inputSchema: z.object({ item: z.string() }),
        execute: async () => task.price,
      }),
    },
  });
  return text;
}

/** The same, streamed. */
async function streamed({ task, openai }: AgentCall<Shop>): Promise<string> {
  const { text } = streamText({
    model: createOpenAICompatible({ ...openai, includeUsage: true })(openai.model),
    prompt: task.item,
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    tools: {
      price: tool({
        description: "what an item costs",
        inputSchema: z.object({ item: z.string() }),
        execute: async () => task.price,
      }),
    },
  });
  return await text;
}

const vocabulary = ["pear plum 3 5 go on again", writeTools([priceTool]), "\n"];
const codec = vocabularyCodec(vocabulary);
const model = tabularModel("policy", newWeights(codec, 3), 256);
const tabular: ModelActorParts = {
  id: "policy",
  codec,
  contextTokens: 256,
  sample: (requests) => model.sample(requests),
};
const scripted = (environment: Environment) => scriptActor("expert", environment.expert!);

async function play(environment: Environment, more: Partial<EpisodeOptions> = {}): Promise<Trajectory> {
  const task = environment.tasks("train")[0]!;
  const actor = () => modelActor(tabular);
  const [t] = await playEpisode({ environment, task, id: "e", actor, random: randomStream(5), ...more });
  return t!;
}
const rowsOf = (t: Trajectory) =>
  trajectoryRows(t, { id: "u", group: "g", members: [] }, new Float32Array(actionTokens(t)));
const said = (t: Trajectory): string[] => t.turns.map((turn) => turn.action.content);
const timeless = (t: Trajectory): string => JSON.stringify(t, (k, v) => (k === "ms" ? 0 : v));
const failure = (t: Trajectory): string => (t.end.kind === "failed" ? t.end.message : JSON.stringify(t.end));

for (const [how, run] of Object.entries({ withClient, withSdk, streamed })) {
  test(`agent, ${how}: the expert gets full marks by calling the tool; equal seeds give equal episodes`, async () => {
    const environment = agent(run, options);
    for (const task of environment.tasks("test")) {
      const t = await play(environment, { task, actor: () => scripted(environment) });
      assert.deepEqual(t.end, { kind: "done", reason: "success", success: true });
      assert.deepEqual(said(t), [writeCall("price", { item: task.metadata.item! }), task.metadata.price]);
      assert.deepEqual(t.turns.at(-1)!.rewards, { outcome: 1 });
    }
    assert.equal(timeless(await play(environment)), timeless(await play(environment)));
  });
}

/** What vLLM's options add to an answer. */
const exact = z.object({
  choices: z.array(
    z.object({
      message: z.object({ role: z.string(), content: z.string() }),
      logprobs: z.object({ content: z.array(z.object({ logprob: z.number() })) }),
      token_ids: z.array(z.int()),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }),
  prompt_token_ids: z.array(z.int()),
});

test("agent: the tokens recorded are those sampled, and those that the client is told of", async () => {
  const drawn: Sample[] = [];
  const prompts: SampleRequest[] = [];
  const actor = modelActor({
    ...tabular,
    async sample(requests) {
      const samples = await model.sample(requests);
      prompts.push(...requests);
      drawn.push(...samples);
      return samples;
    },
  });
  const told: { prompt: number[]; action: number[]; logp: number[]; text: string; usage: number[] }[] = [];
  const environment = agent(async ({ task, openai }: AgentCall<Shop>) => {
    const messages: { role: string; content: string }[] = [{ role: "user", content: task.item }];
    for (let k = 0; k < 4; k++) {
      const answer = await fetch(`${openai.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${openai.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "any", messages, logprobs: true, return_token_ids: true }),
      });
      const { choices, usage, prompt_token_ids } = exact.parse(await answer.json());
      const { message, logprobs, token_ids } = choices[0]!;
      told.push({
        prompt: prompt_token_ids,
        action: token_ids,
        logp: logprobs.content.map((t) => t.logprob),
        text: message.content,
        usage: [usage.prompt_tokens, usage.completion_tokens],
      });
      messages.push(message, { role: "user", content: "go on" });
    }
    return "";
  }, options);
  const t = await play(environment, { actor: () => actor });
  assert.equal(t.turns.length, 4);
  t.turns.forEach(({ tokens, action }, k) => {
    const { prompt, action: ids, logp } = tokens!;
    assert.deepEqual(ids, drawn[k]!.action);
    assert.deepEqual(logp, drawn[k]!.logp);
    assert.deepEqual(prompt, prompts[k]!.prompt);
    const client = told[k]!;
    assert.deepEqual([client.prompt, client.action], [[...prompt], [...ids]]);
    assert.deepEqual(Float32Array.from(client.logp), logp);
    assert.equal(client.text, action.content);
    assert.deepEqual(client.usage, [prompt.length, ids.length]);
  });
  const { rows, cuts } = rowsOf(t);
  assert.deepEqual([rows.length, cuts], [1, 0], "one sequence that grew");
});

/** Calls with these conversations, one after the other; `reply` stands for the last reply. */
const calling = (conversations: readonly (readonly string[])[], more: object = {}) =>
  agent(async ({ openai }: AgentCall<Shop>) => {
    const client = new OpenAI(openai);
    let reply = "";
    for (const texts of conversations) {
      const messages = texts.map(
        (text): OpenAI.ChatCompletionMessageParam =>
          text === "reply" ? { role: "assistant", content: reply } : { role: "user", content: text },
      );
      const made = await client.chat.completions.create({ model: "m", messages, ...more, stream: false });
      reply = made.choices.at(-1)!.message.content ?? "";
    }
    return reply;
  }, options);

test("agent: where a conversation is another one, the row is cut and counted; nothing sampled is lost", async () => {
  const t = await play(
    calling([["pear"], ["pear", "reply", "go on"], ["plum again"], ["plum again", "reply", "go on"]]),
  );
  const { rows, cuts } = rowsOf(t);
  assert.deepEqual([t.turns.length, rows.length, cuts], [4, 2, 1]);
  assert.deepEqual(
    t.turns.map(({ prompt }) => prompt.length),
    [1, 3, 1, 3],
  );
  const targets = rows.flatMap((row) => [...row.targets].map((at) => row.tokens[at]));
  assert.deepEqual(
    targets,
    t.turns.flatMap((turn) => [...turn.tokens!.action]),
  );
});

test("agent: n replies are n turns on one prompt", async () => {
  const t = await play(calling([["pear"], ["pear", "reply", "go on"]], { n: 2 }));
  assert.deepEqual(
    t.turns.map(({ prompt }) => prompt.length),
    [1, 1, 3, 3],
  );
  assert.equal(rowsOf(t).cuts, 2);
  assert.deepEqual(t.turns[2]!.prompt[1], t.turns[1]!.action, "goes on from the one that was chosen");
});

test("agent: limits and stop strings of a call hold for its turn alone", async () => {
  const asked: SampleRequest[] = [];
  const actor = modelActor({
    ...tabular,
    sample: (requests) => {
      asked.push(...requests);
      return model.sample(requests);
    },
  });
  await play(calling([["pear"]], { max_completion_tokens: 2, stop: ["plum"] }), { actor: () => actor });
  await play(calling([["pear"]], { max_tokens: 900 }), { actor: () => actor });
  assert.deepEqual(
    asked.map(({ maxTokens, stop }) => [maxTokens, stop]),
    [
      [2, ["plum"]],
      [12, undefined],
    ],
  );
});

test("agent: one that throws, never calls, hangs or is judged by nonsense costs its own episode", async () => {
  const call = async ({ openai, task }: AgentCall<Shop>): Promise<void> => {
    await new OpenAI(openai).chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: task.item }],
    });
  };
  const throws = agent(async (given) => {
    await call(given);
    throw new Error("out of patience");
  }, options);
  const thrown = await play(throws);
  assert.equal(failure(thrown), "the agent threw: out of patience");
  assert.equal(thrown.turns.length, 1, "turns so far are kept");
  const atOnce = agent(async () => {
    throw new Error("no start");
  }, options);
  assert.match(failure(await play(atOnce)), /threw before its first call: no start/);
  const silent = agent(async () => "", options);
  assert.match(failure(await play(silent)), /never called the model/);
  let stopped = false;
  const hangs = agent(
    async (given) => {
      await call(given);
      await new Promise((_, reject) => {
        given.signal.addEventListener("abort", () => {
          stopped = true;
          reject(new Error("stopped"));
        });
      });
      return "";
    },
    { ...options, limits: { ...options.limits, seconds: 0.3 } },
  );
  assert.match(failure(await play(hangs)), /longer than 0.3 s/);
  assert.ok(stopped, "its signal is aborted");
  const nonsense = agent(
    async (given) => {
      await call(given);
      return "";
    },
    { ...options, reward: () => Number.NaN },
  );
  assert.match(failure(await play(nonsense)), /outcome = NaN/);
});

test("agent: one that floods is cut off at its turns, and hears that it is over", async () => {
  const ends: string[] = [];
  const endless = agent(async ({ openai }: AgentCall<Shop>) => {
    const client = new OpenAI(openai);
    for (;;) {
      await client.chat.completions
        .create({ model: "m", messages: [{ role: "user", content: "pear" }] })
        .catch((e: unknown) => {
          if (e instanceof OpenAI.APIError) ends.push(`${e.status} ${e.code}`);
          throw e;
        });
    }
  }, options);
  const t = await play(endless);
  assert.deepEqual(t.end, { kind: "truncated", limit: "turns", at: 6 });
  assert.equal(t.turns.length, 6);
  await until(() => ends.length > 0);
  assert.deepEqual(ends, ["410 session_over"]);
});

test("agent: calls at the same time wait in line; more than an episode may have are refused", async () => {
  const refusals: unknown[] = [];
  const { promise: crowdedOut, resolve: refused } = Promise.withResolvers<void>();
  const crowd = agent(
    async ({ openai }: AgentCall<Shop>) => {
      const client = new OpenAI({ ...openai, maxRetries: 0 });
      const one = () =>
        client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "pear" }] });
      const another = () =>
        one().catch((e: unknown) => {
          refused();
          throw e;
        });
      const first = await Promise.allSettled(Array.from({ length: 3 }, one));
      const crowded = await Promise.allSettled(Array.from({ length: 20 }, another));
      refusals.push(...crowded.flatMap((r) => (r.status === "rejected" ? [r.reason.code] : [])));
      return `${first.filter((r) => r.status === "fulfilled").length}`;
    },
    { ...options, limits: { turns: 12, actionTokens: 5 } },
  );
  let asked = 0;
  const slow = modelActor({
    ...tabular,
    // the line stays as it is until somebody has found no place in it
    sample: async (requests) => {
      if (++asked > 3) await crowdedOut;
      return model.sample(requests);
    },
  });
  const t = await play(crowd, { actor: () => slow });
  assert.equal(t.turns.length, 12);
  assert.equal(t.end.kind, "truncated");
  await until(() => refusals.length > 0);
  assert.ok(refusals.includes("too_many_calls") && refusals.includes("session_over"));
});

const failed = z.object({ error: z.object({ code: z.string() }).optional() });

test("agent: a call that its client gives up while it waits is not played", async () => {
  const hasty = agent(async ({ openai }: AgentCall<Shop>) => {
    const client = new OpenAI({ ...openai, maxRetries: 0 });
    const given = new AbortController();
    const messages = [{ role: "user", content: "pear" }] as const;
    const one = (signal?: AbortSignal) =>
      client.chat.completions.create({ model: "m", messages: [...messages] }, signal ? { signal } : {});
    const first = one();
    const second = one(given.signal).catch(() => "given up");
    setTimeout(() => given.abort(), 30);
    await first;
    return `${await second}`;
  }, options);
  const slow = modelActor({
    ...tabular,
    sample: async (requests) => {
      await new Promise((r) => setTimeout(r, 300));
      return model.sample(requests);
    },
  });
  const t = await play(hasty, { actor: () => slow });
  assert.equal(t.turns.length, 1);
  assert.equal(t.end.kind, "done");
});

test("agent: only the right key at the right place is answered", async () => {
  const seen: unknown[] = [];
  const nosy = agent(async ({ openai }: AgentCall<Shop>) => {
    const get = async (url: string, key: string): Promise<void> => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      seen.push([answer.status, failed.parse(await answer.json()).error?.code]);
    };
    const elsewhere = openai.baseURL.replace(/session\/\w+/, "session/other");
    await get(`${openai.baseURL}/models`, openai.apiKey);
    await get(`${openai.baseURL}/models`, "guess");
    await get(`${elsewhere}/models`, openai.apiKey);
    await get(openai.baseURL.replace(/session\/\w+\//, "models"), openai.apiKey);
    await get(`${openai.baseURL}/embeddings`, openai.apiKey);
    await new OpenAI(openai).chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: "pear" }],
    });
    return "";
  }, options);
  await play(nosy);
  assert.deepEqual(seen, [
    [200, undefined],
    [401, "invalid_api_key"],
    [410, "session_over"],
    [404, "unknown_url"],
    [404, "unknown_url"],
  ]);
});

test("agent: named rewards, success and feedback as the author says; episodes run side by side", async () => {
  const environment = agent(withClient, {
    ...options,
    reward: (_task, result) => ({ outcome: 0.5, short: result.length < 2 ? 1 : 0 }),
    success: () => true,
    feedback: ({ price }) => `it costs ${price}`,
  });
  const actor = () => scripted(environment);
  const played = await Promise.all([1, 2, 3].map((k) => play(environment, { actor, id: `e${k}` })));
  for (const t of played) {
    const last = t.turns.at(-1)!;
    assert.deepEqual(last.rewards, { outcome: 0.5, short: 1 });
    assert.equal(last.text, "it costs 3");
    assert.deepEqual(t.end, { kind: "done", reason: "success", success: true });
  }
});

test("agent: a model that only talks may be the policy; its calls are taken as its provider read them", async () => {
  const asked: ChatRequest[] = [];
  const chat: Chat = {
    id: "talker",
    ask: () => Promise.reject(new Error("not asked")),
    spent: () => ({ calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
    reply: async (request) => {
      asked.push(request);
      const done = request.messages.some((m) => m.role === "tool");
      const toolCalls = [{ id: "own", name: "price", arguments: '{"item":"pear"}' }];
      const message = {
        role: "assistant",
        content: done ? "3" : "",
        ...(done ? {} : { toolCalls }),
      } as const;
      return { message, stop: "eos", tokens: { input: 1, output: 1 }, cached: false };
    },
  };
  const t = await play(agent(withClient, options), { actor: () => chatActor("policy", chat) });
  assert.equal(t.end.kind === "done" && t.end.success, true);
  assert.deepEqual(
    asked.map(({ tools }) => tools?.map(({ name }) => name)),
    [["price"], ["price"]],
  );
  assert.equal(asked[1]!.messages.at(-1)!.toolCallId, "own");
});

test("agent: a retry replays the recorded turns and goes on from there", async () => {
  const environment = agent(withClient, { ...options, replay: true });
  assert.ok(environment.abilities.has("replay"));
  const first = await play(environment, { actor: () => scripted(environment) });
  const from = { trajectory: first, turn: 1, why: "branch" } as const;
  const second = await play(environment, { from });
  assert.equal(said(second)[0], said(first)[0]);
  assert.deepEqual(second.turns[1]!.prompt.at(-1), { role: "tool", content: "3", toolCallId: "call_0_0_0" });
});

async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; !done() && waited < 3000; waited += 10) await new Promise((r) => setTimeout(r, 10));
}
