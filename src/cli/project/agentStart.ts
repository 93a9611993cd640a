/** The project of `whetstone init --start agent`: an agent that reaches its model by a base URL, trained as it is. */
import type { Start } from "./start.ts";

/** Packages of the AI SDK, as the agent of the project imports them. */
export const aiSdk = {
  "@ai-sdk/openai-compatible": "^3.0.92",
  ai: "^7.0.173",
  zod: "^4.6.7",
} as const;

const agent = `// The agent as it runs in production. Nothing in it knows of training: its base URL says who answers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

/** Where the model is reached: a provider, the gateway, or in training the policy. */
export interface ModelAddress {
  readonly name: string;
  /** Ends in /v1. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly model: string;
}

/** Which colour of a ware the shop has left. */
export type Stock = Readonly<Record<string, string>>;

/** Answers a customer. */
export async function clerk(
  address: ModelAddress,
  question: string,
  stock: Stock,
  signal?: AbortSignal,
): Promise<string> {
  const { text } = await generateText({
    model: createOpenAICompatible(address)(address.model),
    prompt: question,
    tools: {
      stock: tool({
        description: "which colour of a ware is left",
        inputSchema: z.object({ ware: z.string() }),
        execute: async ({ ware }) => stock[ware] ?? "unknown",
      }),
    },
    stopWhen: stepCountIs(3),
    abortSignal: signal,
  });
  return text;
}

// OPENAI_BASE_URL=http://127.0.0.1:8600/v1 node agent.ts "which lamp is left red blue"
if (import.meta.main) {
  const { OPENAI_BASE_URL = "https://api.openai.com/v1", OPENAI_API_KEY = "", OPENAI_MODEL = "gpt-5-mini" } =
    process.env;
  const address = { name: "shop", baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY, model: OPENAI_MODEL };
  console.log(await clerk(address, process.argv[2] ?? "which lamp is left red blue", { lamp: "red" }));
}
`;

const environment = `// What it takes to train the agent: tasks, and what an answer is worth. Every call that the agent makes is a turn.
// The flawed player, from which the policy starts, asks the tool only where two colours are offered: where three are
// it guesses. Feedback teaches the agent to ask there too.
import { agent, type Random, randomStream, shuffled, writeCall } from "whetstone";
import { clerk } from "./agent.ts";

const wares = ["lamp", "chair", "table", "vase"];
const colours = ["red", "blue", "green", "white", "black", "brown", "pink", "grey"];

/** A customer's question and the one right answer to it. */
interface Customer {
  readonly ware: string;
  readonly offered: readonly string[];
  readonly left: string;
}

const question = ({ ware, offered }: Customer): string => \`which \${ware} is left \${offered.join(" ")}\`;

/** Every two colours in both orders and every three in one, each of them once the one that is left. */
const offers = colours.flatMap((a, i) =>
  colours.flatMap((b, j) => [
    ...(i === j ? [] : [[a, b]]),
    ...(i < j ? colours.slice(j + 1).map((c) => [a, b, c]) : []),
  ]),
);
const customers: readonly Customer[] = shuffled(
  wares.flatMap((ware) => offers.flatMap((offered) => offered.map((left) => ({ ware, offered, left })))),
  randomStream("customers"),
);

/** What a perfect policy writes: a call of the tool, then what the tool said. */
const expert = ({ ware }: Customer, conversation: readonly { role: string; content: string }[]): string => {
  const last = conversation.at(-1)!;
  return last.role === "tool" ? last.content : writeCall("stock", { ware });
};

export default agent(
  // an agent in another language is started here as a process, with openai.baseURL in its environment
  ({ task, openai, signal }) => clerk(openai, question(task), { [task.ware]: task.left }, signal),
  {
    name: "shop",
    summary: "ask the tool which colour is left, then say it",
    tasks: {
      train: customers.slice(0, 700),
      validation: customers.slice(700, 800),
      test: customers.slice(800),
    },
    prompt: question,
    reward: ({ left }, answer) => Number(answer === left),
    replay: true,
    limits: { turns: 3, actionTokens: 8 },
    // for the small model that is made from scratch: its words, and somebody to imitate at first
    vocabulary: () => [
      \`which is left unknown \${wares.join(" ")} \${colours.join(" ")}\`,
      "<tools> </tools> <function=stock> <parameter=ware> </parameter> </function>",
    ],
    expert,
    flawed: (customer, conversation, random: Random) => {
      const { offered } = customer;
      const knows = conversation.at(-1)!.role === "tool" || offered.length === 2;
      // a skill that is mostly missing: one time in ten it asks, so that there is something to find
      return knows || random.next() < 0.1 ? expert(customer, conversation) : offered[random.below(offered.length)]!;
    },
  },
);
`;

const config = `import type { TrainConfig } from "whetstone";
import environment from "./environment.ts";

export default {
  env: environment,
  method: "grpo",
  seed: 1,
  iterations: 35,
  // until it can say what the tool said; a pretrained model needs none of this: model: "./some-model.gguf"
  warmStart: { updates: 600 },
  evaluation: { tasks: 100 },
  out: "runs/shop-1",
} satisfies TrainConfig;
`;

const test = `import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { clerk } from "./agent.ts";

/** A model that calls the tool, and repeats what it said. */
async function withModel(use: (baseURL: string) => Promise<void>): Promise<void> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as {
      messages: { role: string; content: string }[];
    };
    const last = messages.at(-1)!;
    const call = { id: "1", type: "function", function: { name: "stock", arguments: '{"ware":"lamp"}' } };
    const message =
      last.role === "tool"
        ? { role: "assistant", content: last.content }
        : { role: "assistant", content: null, tool_calls: [call] };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ id: "1", created: 1, model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    await use(\`http://127.0.0.1:\${(server.address() as AddressInfo).port}/v1\`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("the agent asks its tool, and answers what the tool said", async () => {
  await withModel(async (baseURL) => {
    const address = { name: "test", baseURL, apiKey: "none", model: "m" };
    assert.equal(await clerk(address, "which lamp is left red blue", { lamp: "blue" }), "blue");
    assert.equal(await clerk(address, "which lamp is left red blue", { chair: "blue" }), "unknown");
  });
});
`;

/** An agent as it is, of which only the base URL changes. */
export const agentStart: Start = {
  summary: "an agent that you have: the policy answers at the base URL that it is given",
  run: "runs/shop-1",
  scripts: {
    start: "whetstone train config.ts",
    play: "whetstone play environment.ts",
    validate: "whetstone validate environment.ts",
  },
  dependencies: aiSdk,
  about: `    npm test            # the agent, with a scripted model at its base URL
    npm run play        # be the model yourself
    npm run validate    # what is wrong with the environment, before training
    npm start           # train: about a minute; success with customers never met goes from half to nearly all
    npx whetstone show shop-1    # curves, transcripts, credit

- \`agent.ts\`: the agent, written with the AI SDK. Put yours in its place; it needs a base URL that can be set.
- \`environment.ts\`: its tasks, and what an answer is worth.
- \`config.ts\`: how it is trained. The editor shows what each setting means; \`npx whetstone train --help\` lists all.
- \`agent.test.ts\`: the agent alone.`,
  checks: ["npm run validate"],
  files: { "agent.ts": agent, "environment.ts": environment, "config.ts": config, "agent.test.ts": test },
};
