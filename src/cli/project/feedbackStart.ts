/** The project of `whetstone init --start feedback`: an agent in production, its users' corrections, a model that learns from them. */
import { aiSdk } from "./agentStart.ts";
import type { Start } from "./start.ts";

const agent = `// The agent as it runs in production. Only its base URL says that its calls are recorded.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";

/** Answers a user. The id names the answer; feedback refers to it. */
export async function answer(baseURL: string, question: string): Promise<{ id: string; text: string }> {
  const provider = createOpenAICompatible({ name: "help", baseURL, apiKey: process.env.OPENAI_API_KEY ?? "none" });
  const { text, response } = await generateText({
    model: provider(process.env.OPENAI_MODEL ?? "gpt-5-mini"),
    prompt: question,
  });
  return { id: response.id, text };
}

// OPENAI_BASE_URL=http://127.0.0.1:8600/v1 node agent.ts "where can i change my password"
if (import.meta.main) {
  const { OPENAI_BASE_URL = "http://127.0.0.1:8600/v1" } = process.env;
  console.log(await answer(OPENAI_BASE_URL, process.argv[2] ?? "where can i change my password"));
}
`;

const environment = `// What users ask, and the answer that they want. A part of the questions is asked in the rehearsal; the others are
// for measuring alone.
import { type Environment, randomStream, shuffled, type Task } from "whetstone";

/** Where a thing is found. */
export const pages: Readonly<Record<string, string>> = {
  password: "security",
  login: "security",
  invoice: "billing",
  card: "billing",
  address: "profile",
  photo: "profile",
  language: "settings",
  theme: "settings",
};
const beginnings = ["where can i", "how do i", "please help me", "i want to", "can you tell me how i"];
const verbs = ["change", "see", "remove", "find"];

const tasks: readonly Task[] = shuffled(
  Object.entries(pages).flatMap(([thing, page]) =>
    beginnings.flatMap((beginning) =>
      verbs.map((verb) => ({
        id: \`\${beginning} \${verb} my \${thing}\`,
        prompt: [{ role: "user" as const, content: \`\${beginning} \${verb} my \${thing}\` }],
        reference: \`open \${page}\`,
        metadata: {},
        seed: 1,
      })),
    ),
  ),
  randomStream("questions"),
);

export default {
  name: "help",
  summary: "name the page that a user needs",
  roles: ["agent"],
  splits: ["train", "test"],
  abilities: new Set(["expert"]),
  limits: { turns: 1, actionTokens: 6 },
  tasks: (split) => (split === "test" ? tasks.slice(100) : tasks.slice(0, 100)),
  start: async (task) => ({
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }) => {
      const success = content.trim() === task.reference;
      return { rewards: { outcome: Number(success) }, end: { kind: "done", reason: "answered", success } };
    },
  }),
  expert: (task) => task.reference!,
  vocabulary: () => [...tasks.map(({ prompt }) => prompt[0]!.content), ...Object.values(pages), "open"],
} satisfies Environment;
`;

const provider = `// In the rehearsal this stands in for the provider: it knows where things are changed, and sends everybody else to
// the start page.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pages } from "./environment.ts";

export interface Provider {
  readonly baseURL: string;
  close(): void;
}

export async function provider(): Promise<Provider> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: string }[] };
    const words = messages.at(-1)!.content.split(" ");
    const page = words.includes("change") ? pages[words.at(-1)!] : undefined;
    const message = { role: "assistant", content: \`open \${page ?? "home"}\` };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const body = { id: "call", object: "chat.completion", created: 1, model: "stand-in", choices };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    baseURL: \`http://127.0.0.1:\${(server.address() as AddressInfo).port}/v1\`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
`;

const rehearse = `// A day of production in seconds: the gateway records the agent's calls to a provider, and users correct wrong answers.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { whetstone } from "whetstone/client";
import { answer } from "./agent.ts";
import environment from "./environment.ts";
import { provider } from "./provider.ts";

const upstream = await provider();
const flags = ["--upstream", upstream.baseURL, "--channels", "reaction,correction", "--port", "0", "--json"];
const gateway = spawn("whetstone", ["serve", ...flags], {
  stdio: ["ignore", "pipe", "inherit"],
  shell: process.platform === "win32",
});
const url = await new Promise<string>((resolve, reject) => {
  gateway.on("error", reject).on("exit", (code) => reject(new Error(\`the gateway ended with \${code}\`)));
  createInterface(gateway.stdout).on("line", (line) => {
    const told = JSON.parse(line) as { type: string; url: string };
    if (told.type === "serving") resolve(told.url);
  });
});

// in production: the same two calls, once when an answer is shown and once when its user has said something
const client = whetstone({ url });
let [right, asked] = [0, 0];
for (const { prompt, reference } of environment.tasks("train")) {
  const { id, text } = await answer(\`\${url}/v1\`, prompt[0]!.content);
  const good = text === reference;
  await client.feedback.reaction(id, good ? "thumbs_up" : "thumbs_down");
  if (!good) await client.feedback.correction(id, reference!);
  asked++;
  if (good) right++;
}
await client.close();
gateway.removeAllListeners("exit").kill("SIGINT");
await new Promise((ended) => gateway.once("exit", ended));
upstream.close();
console.log(\`\${asked} questions answered by the provider, \${right} of them as their users wanted; all recorded.\`);
`;

const config = `import type { TrainConfig } from "whetstone";
import environment from "./environment.ts";

export default {
  fromFeedback: "runs/whetstone.sqlite", // what the gateway recorded
  method: "sft", // imitates corrections; "dpo" also learns what was wrong
  env: environment, // measures, on questions that nobody has asked
  seed: 1,
  iterations: 200,
  evaluation: { tasks: 60 },
  out: "runs/help-1",
} satisfies TrainConfig;
`;

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "./agent.ts";
import environment from "./environment.ts";
import { provider } from "./provider.ts";

test("the agent returns the text and the id, by which feedback names it", async () => {
  const upstream = await provider();
  try {
    assert.deepEqual(await answer(upstream.baseURL, "change my card"), {
      id: "call",
      text: "open billing",
    });
  } finally {
    upstream.close();
  }
});

test("what is measured was never asked", () => {
  const asked = new Set(environment.tasks("train").map(({ id }) => id));
  assert.equal(environment.tasks("test").filter(({ id }) => asked.has(id)).length, 0);
  assert.equal(environment.tasks("test").length, 60);
});
`;

/** An agent in production, whose users' feedback is all there is. */
export const feedbackStart: Start = {
  summary: "feedback from production: a gateway records, users correct, a model learns from it",
  run: "runs/help-1",
  scripts: {
    rehearse: "node rehearse.ts",
    train: "whetstone train config.ts",
    start: "npm run rehearse && npm run train",
    serve: "whetstone serve --upstream https://api.openai.com/v1 --channels reaction,correction",
    learnt: "whetstone serve --policy runs/help-1",
  },
  dependencies: aiSdk,
  about: `    npm test            # the agent alone
    npm start           # a rehearsal: a stand-in for the provider answers, users correct it, a small model learns from
                        # the corrections and is measured on other questions: from none right to nearly all
    npx whetstone dashboard    # the recorded calls, the feedback, the run
    npm run learnt      # the trained model answers at http://127.0.0.1:8600/v1

In production, \`npm run serve\` stands between your agent and its provider, your program sends feedback as
\`rehearse.ts\` does, and \`npm run train\` learns from what was recorded.

- \`agent.ts\`: the agent. Put yours in its place; it needs a base URL that can be set.
- \`rehearse.ts\`, \`provider.ts\`: the day of production that is played. Delete both once you have users.
- \`environment.ts\`: questions and wanted answers, to measure with.
- \`config.ts\`: how it is trained. The editor shows what each setting means; \`npx whetstone train --help\` lists all.`,
  checks: [],
  files: {
    "agent.ts": agent,
    "environment.ts": environment,
    "provider.ts": provider,
    "rehearse.ts": rehearse,
    "config.ts": config,
    "agent.test.ts": test,
  },
};
