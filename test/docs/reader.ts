/** What the reader of a page has before its commands: files, a store with traffic, names of their own. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Answer } from "./standIn.ts";

const root = join(import.meta.dirname, "../..");

interface Reader {
  /** @param folder where the commands run. */
  readonly setUp?: (folder: string) => void;
  /** Commands that the reader has run earlier. */
  readonly before?: string;
  /** What the provider says. */
  readonly answer?: Answer;
  /** The reader's own names, and shorter runs, in place of the page's. */
  readonly names?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Blocks that are not run, by `page#number`, and why. */
export const notRun: Readonly<Record<string, string>> = {
  "bench/README.md#1": "benches of minutes to hours, most of which need programs of others",
  "docs/real-models.md#1": "a download of 92 MB",
  "docs/real-models.md#2": "it trains a pretrained model, of that download, for minutes",
  "site/index.md#1": "`npm start` takes minutes, and `npm test` is what runs this",
};

function write(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** A block of code on a page, from 1. */
const codeOf = (page: string, language: string, number = 1): string =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```(\w+)\n(.*?)^```/gms)].filter(
    ([, its]) => its === language,
  )[number - 1]![2]!;

/** A question of a user, and what was answered. */
const asking = `import OpenAI from "openai";
const messages = [{ role: "user", content: "How do I reset my password?" }];
const { choices } = await new OpenAI().chat.completions.create({ model: "gpt-5-mini", messages });
console.log(choices[0].message.content);
`;

/** An agent whose instrumentation sends a span. */
const traced = `
const said = (role, content) => JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
const attributes = Object.entries({
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "gpt-5-mini",
  "gen_ai.input.messages": said("user", "How do I reset my password?"),
  "gen_ai.output.messages": said("assistant", "Open Settings, then Security."),
}).map(([key, stringValue]) => ({ key, value: { stringValue } }));
const time = Date.now() + "000000";
const ids = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "eee19b7ec3c1b174" };
const spans = [{ ...ids, name: "chat", startTimeUnixNano: time, endTimeUnixNano: time, attributes }];
const answer = await fetch(process.env.OTEL_EXPORTER_OTLP_ENDPOINT + "/v1/traces", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
});
if (!answer.ok) throw new Error(await answer.text());
`;

const claude = `#!/usr/bin/env node
const headers = { "content-type": "application/json", "x-api-key": "none", "anthropic-version": "2023-06-01" };
const body = JSON.stringify({ model: "claude", max_tokens: 9, messages: [{ role: "user", content: "hello" }] });
fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", headers, body })
  .then((answer) => answer.json())
  .then(({ content }) => console.log(content[0].text));
`;

/** What Langfuse's API returns: every other reply is disliked and corrected, the rest are liked. */
const traces = Array.from({ length: 40 }, (_, i) => {
  const id = `t${i}`;
  const isGood = i % 2 === 0;
  const scored = { traceId: id, observationId: `${id}-reply`, timestamp: "2026-01-02T04:00:00Z" };
  const thumb = { id: `${id}-0`, ...scored, name: "thumb", dataType: "BOOLEAN", value: Number(isGood) };
  const better = { dataType: "CORRECTION", value: 0, stringValue: "Open Settings, then Security." };
  return {
    id,
    timestamp: "2026-01-02T03:04:05.000Z",
    userId: i < 4 ? "ann" : `user-${i}`,
    observations: [
      {
        id: `${id}-reply`,
        traceId: id,
        type: "GENERATION",
        startTime: "2026-01-02T03:04:05.000Z",
        model: "gpt-5-mini",
        input: [{ role: "user", content: `How do I reset password ${i}?` }],
        output: { role: "assistant", content: isGood ? "Open Settings, then Security." : "No idea." },
      },
    ],
    scores: isGood ? [thumb] : [thumb, { id: `${id}-1`, ...scored, name: "output", ...better }],
  };
});

/** A model that is small enough to be trained here. */
const smallModel = {
  "Qwen/Qwen2.5-0.5B-Instruct --lora 16": `${join(root, "test/engine/local/fixtures/qwen2")} --lora 4 --iterations 2`,
};

const gateway = "whetstone serve --upstream https://api.openai.com/v1 >/dev/null";

export const readers: Readonly<Record<string, Reader>> = {
  "README.md": {
    setUp: (folder) => write(folder, "my-agent.js", asking),
    names: { "--iterations 40": "--iterations 3 --eval-tasks 10" },
  },
  "docs/cli.md": { names: { "--iterations 30": "--iterations 3 --eval-tasks 10" } },
  "docs/cluster.md": {
    names: {
      "--iterations 1 ": "--iterations 1 --eval-tasks 10 ",
      "--iterations 12": "--iterations 3 --eval-tasks 10",
      "--iterations 20": "--iterations 10 --eval-tasks 10",
    },
  },
  "docs/data.md": {
    setUp: (folder) => {
      write(folder, "traces.jsonl", lines(traces));
      write(folder, "agent.js", traced);
    },
    names: smallModel,
    before: gateway,
  },
  "docs/discover.md": { setUp: (folder) => write(folder, "ones.ts", codeOf("docs/discover.md", "ts")) },
  "docs/feedback.md": {
    names: { "https://whetstone.example.com": "http://127.0.0.1:$PORT" },
    before: `export WHETSTONE_KEY=$(whetstone keys create server --scope feedback --json | jq -r .key)
whetstone serve --upstream https://api.openai.com/v1 > /dev/null`,
  },
  "docs/first-hour.md": {
    setUp: (folder) =>
      write(folder, "support/agent.ts", readFileSync(join(root, "test/cli/agents/aiSdk.ts"), "utf8")),
    // the same walk, shorter: bench/first-hour.ts takes the whole one; types are those of the built package (test/cli/init.test.ts)
    names: {
      "npm run types": "true",
      "init my-agent": "init my-agent\nsed -i 's/updates: 200/updates: 2/' my-agent/config.ts",
      "npm start": "npm start -- --iterations 1 --eval-tasks 10",
      "--iterations 20 --eval-tasks 100": "--iterations 1 --eval-tasks 10",
      "--learning-rate 0 ": "--learning-rate 0 --eval-tasks 10 ",
    },
  },
  "docs/from-ai-sdk.md": { setUp: (folder) => write(folder, "my-agent.js", asking) },
  "docs/from-dspy.md": {
    setUp: (folder) =>
      write(
        folder,
        "environment.ts",
        'import { tickets } from "whetstone/env";\nexport default tickets();\n',
      ),
    names: { "--episodes 600": "--episodes 60", "--tasks 200": "--tasks 20" },
  },
  "docs/from-langfuse.md": {
    setUp: (folder) => write(folder, "traces.jsonl", lines(traces)),
    names: smallModel,
  },
  "docs/from-trl.md": {
    setUp: (folder) =>
      write(
        folder,
        "preferences.jsonl",
        lines([
          { prompt: "The capital of Peru is", chosen: " Lima.", rejected: " Cusco." },
          { prompt: "The capital of Chile is", chosen: " Santiago.", rejected: " Arica." },
        ]),
      ),
  },
  "docs/gateway.md": {
    setUp: (folder) => {
      write(folder, "my-agent.js", asking);
      write(folder, "node_modules/.bin/claude", claude);
      chmodSync(join(folder, "node_modules/.bin/claude"), 0o755);
    },
    // no call is made there
    names: { "add --upstream https://api.openai.com/v1": "add --upstream https://api.openai.com/v1" },
    env: { AZURE_KEY: "reader" },
  },
  "docs/operations.md": {
    setUp: (folder) => write(folder, "traces.jsonl", lines(traces)),
    before: "whetstone import traces.jsonl --from langfuse >/dev/null",
  },
  "docs/serving.md": {
    before:
      "whetstone train --env contextual-bandit --method sft --iterations 1 --eval-tasks 1 --out runs/support >/dev/null",
    names: { "SmolLM2-135M-Instruct.Q4_1.gguf": join(root, "test/engine/local/fixtures/gguf/smollm.gguf") },
  },
};
