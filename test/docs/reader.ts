/** What the reader of a page has before its commands: files, a store with traffic, names of their own. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { type Traffic, traffic, version } from "../release/traffic.ts";
import type { Answer } from "./standIn.ts";

const root = join(import.meta.dirname, "../..");

interface Reader {
  /** @param folder where the commands run. */
  readonly setUp?: (folder: string) => void | Promise<void>;
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
  "README.md#1": "`npm start` takes minutes, and `npm test` is what runs this",
  "README.md#5": "a download of 92 MB, and ten minutes of training",
  "bench/README.md#1": "benches of minutes to hours, most of which need programs of others",
  "docs/adding-a-method.md#1": "a paper's folder that its reader writes in a clone",
  "docs/adding-a-method.md#2": "the same",
  "docs/adding-a-method.md#3": "the same",
  "docs/adding-a-method.md#4": "the same",
  "docs/closed-loop.md#2": "minutes to hours; the block above is the same in seconds",
  "docs/gpu.md#2": "a GPU",
  "docs/gpu.md#3": "nine minutes; npm run check runs it",
  "docs/gpu.md#4": "Chromium's graphics driver",
  "docs/kubernetes.md#1": "a cluster",
  "docs/kubernetes.md#2": "the same",
  "docs/real-models.md#1": "a download of 92 MB",
  "docs/real-models.md#2": "it trains a pretrained model, of that download, for minutes",
  "docs/real-models.md#3": "the same",
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

/** An agent: questions of users, one by default, and what was answered. */
const asking = `import OpenAI from "openai";
for (let i = 0; i < Number(process.argv[2] ?? 1); i++) {
  const messages = [{ role: "user", content: "How do I reset my password?" }];
  const { choices } = await new OpenAI().chat.completions.create({ model: "gpt-5-mini", messages });
  console.log(choices[0].message.content);
}
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

const transcripts = Array.from({ length: 12 }, (_, i) => ({
  prompt: `What is ${i} and ${i}?`,
  reply: i % 2 === 0 ? `It is ${2 * i}.` : "I do not know.",
}));

/** Beside those of the page, of which a student needs more. */
const moreLabels = Array.from({ length: 5 }, (_, i) => ({
  prompt: `What is ${i} and ${i}?`,
  a: `${2 * i}.`,
  b: "I do not know.",
  preferred: "a",
}));

/** What people said of the tone and of the facts of replies. */
const aspectLabels = Array.from({ length: 60 }, (_, i) => {
  const reply = `${i % 2 ? "Gladly" : "Well"}: ${i % 3 ? "the answer is" : "perhaps"} ${2 * i}.`;
  const shown = { prompt: `What is ${i} and ${i}?`, reply };
  return [
    { ...shown, label: Number(i % 2 === 1), aspect: "tone" },
    { ...shown, label: Number(i % 3 > 0), aspect: "facts" },
  ];
}).flat();

/** A judge of single replies that likes what is short. */
const scoring = (name: string): string =>
  `export default { name: "${name}", score: async (items) => items.map(({ reply }) => ({ score: 1 / (1 + reply.length) })) };\n`;

const smallRun = `export default { env: "bandit", method: "grpo", engine: "tabular", iterations: 20, evaluation: { tasks: 10 }, out: "runs/small" };\n`;

/** A store in which two versions have answered half of the sessions each, for two hours. */
async function comparedFor(store: string, of: Pick<Traffic, "liked" | "failing">): Promise<void> {
  const production = await openTrafficStore(store);
  const from = Date.now() - 2 * 3_600_000;
  const shares = { "base-a601cc88": 0.5, "tuned-9948bea3": 0.5 };
  for (const id of Object.keys(shares)) await production.addVersion(version(id));
  const split = { id: "half", shares, unit: "session", since: from } as const;
  await production.addSplit({ ...split, why: "half and half" });
  await traffic(production, { ...split, why: "half and half" }, { sessions: 400, from, ...of });
  await production.close();
}

const ownBandit = `import { environments } from "whetstone";
export default environments.find(({ name }) => name === "bandit").make();\n`;
const ownTickets = 'import { tickets } from "whetstone/env";\nexport default tickets();\n';

/** A model that is small enough to be trained here. */
const small = (name: string): string => join(root, "test/engine/local/fixtures", name);
const smallModel = { "Qwen/Qwen2.5-0.5B-Instruct --lora 16": `${small("qwen2")} --lora 4 --iterations 2` };

const gateway = "whetstone serve --upstream https://api.openai.com/v1 >/dev/null";

export const readers: Readonly<Record<string, Reader>> = {
  "README.md": {
    setUp: (folder) => write(folder, "my-agent.js", asking),
    names: {
      "--iterations 40": "--iterations 3 --eval-tasks 10",
      "init my-agent": "init my-agent\nsed -i 's/updates: 200/updates: 2/' my-agent/config.ts",
      "npm start": "npm start -- --iterations 1 --eval-tasks 10\ncd ..",
      "--env contextual-bandit --engine tabular":
        "--env contextual-bandit --engine tabular --episodes 48 --seeds 2 --rates 10 --tuning-seeds 2",
      // it takes minutes, and writes the evidence of the repository
      "check igpo": "check --help",
      "--env codewords --iterations 10": "--env codewords --iterations 1 --eval-tasks 4",
    },
  },
  "docs/cli.md": { names: { "--iterations 30": "--iterations 3 --eval-tasks 10" } },
  "docs/closed-loop.md": {
    names: {
      "npm run demo:loop -- --quick": `node ${join(root, "scripts/demo-loop.ts")} --quick`,
      "--env users": "--env users --engine tabular --iterations 1 --eval-tasks 4",
    },
  },
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
  "docs/weight-free.md": {
    setUp: (folder) => {
      write(folder, "prompts/support.md", "Greet the user by name, and ask for the date first.\n");
      write(folder, "traces.jsonl", lines(traces));
      const world = join(root, "src/methods/memory/portal/pursuit.ts");
      write(
        folder,
        "pursuit.ts",
        `import { pursuit } from ${JSON.stringify(world)};
        export default { env: pursuit(), method: "portal", engine: "tabular", iterations: 1, warmStart: { updates: 1 },
          evaluation: { tasks: 1, validationTasks: 1 }, out: "runs/pursuit-portal-1" };\n`,
      );
    },
    before: `
      whetstone import traces.jsonl --from langfuse >/dev/null
      whetstone versions add --upstream https://api.openai.com/v1 --model base >/dev/null
      whetstone versions add --upstream https://api.openai.com/v1 --model gpt-5-mini >/dev/null
      whetstone train --engine chat --url https://api.openai.com/v1 --model gpt-5-mini --method gepa --env facts --episodes 20 --eval-tasks 4 --price 0.25,2 --out runs/facts-gepa >/dev/null
      whetstone train --env contextual-bandit --method sft --iterations 1 --eval-tasks 1 --out runs/guide >/dev/null
      whetstone train pursuit.ts >/dev/null`,
    names: {
      "whetstone artefacts import artefacts/support":
        "sed -i s/Greet/Welcome/ artefacts/support/*.md\nwhetstone artefacts import artefacts/support",
      "export OPENAI_API_KEY=…": "export OPENAI_API_KEY=sk-reader",
      "--episodes 600": "--episodes 20 --eval-tasks 4",
      "--cache runs/chat --out runs/facts-gepa": "--cache runs/chat --out runs/facts-gepa-2",
      "--artefact 3f2a": "--artefact support",
      "--artefact lessons": "--artefact support-lessons --tasks 4",
      "--episodes 640 --seeds 5 --rates 3,10,30 --tuning-seeds 5":
        "--episodes 48 --seeds 2 --rates 10 --tuning-seeds 2",
      "examples/weight-free": join(root, "examples/weight-free"),
      "--tasks 200": "",
      "whetstone eval runs/": "whetstone eval --tasks 4 runs/",
    },
  },
  "docs/versions.md": {
    before: "whetstone versions add --upstream http://127.0.0.1:9001/v1 --model base >/dev/null",
    setUp: async (folder) => {
      await comparedFor(join(folder, "two-hours.sqlite"), {
        liked: (v) => (v.startsWith("base") ? 0.5 : 0.8),
      });
      await comparedFor(join(folder, "broken.sqlite"), {
        liked: () => 0.5,
        failing: (v) => (v.startsWith("base") ? 0 : 0.5),
      });
    },
    // later: what is compared has to be two hours old
    names: {
      "versions judge": "versions judge --store two-hours.sqlite",
      "watch --once": "watch --once --store broken.sqlite",
    },
  },
  "docs/discover.md": { setUp: (folder) => write(folder, "ones.ts", codeOf("docs/discover.md", "ts")) },
  "docs/dashboard.md": {
    before:
      "whetstone train --env bandit --engine tabular --iterations 1 --eval-tasks 1 --out runs/one >/dev/null",
    names: {
      // it would stay after the run: test/cli/live.test.ts
      "--env facts --live": "--env bandit --engine tabular --iterations 1 --eval-tasks 4",
      "--upstream URL": "--upstream $PROVIDER",
    },
  },
  "docs/engine.md": {
    setUp: (folder) => write(folder, "my-env.ts", ownBandit),
    before: `whetstone train --env bandit --model ${small("qwen2")} --lora 4 --iterations 1 --eval-tasks 1 --out runs/support`,
    names: {
      "--env facts --model Qwen/Qwen2.5-0.5B-Instruct --lora 16 --context-tokens 512": `--env bandit --model ${small("qwen2")} --lora 4 --iterations 1 --eval-tasks 1`,
      "--model ./my-model": `--model ${small("llama")} --iterations 1 --eval-tasks 1 --out runs/second`,
      "model.Q4_K_M.gguf": small("gguf/smollm.gguf"),
      "--tasks 20": "--tasks 4",
      "validate my-env.ts": "validate my-env.ts --seconds 1",
    },
  },
  "docs/environments.md": {
    setUp: (folder) => write(folder, "environment.ts", ownBandit),
    names: { "HuggingFaceTB/SmolLM2-135M-Instruct": `${small("qwen2")} --seconds 1` },
  },
  "docs/tinker.md": {
    names: {
      "./qwen,HuggingFaceTB/SmolLM2-135M": "tinker/bases/tiny",
      "--tokenizer tinker/bases/tiny":
        "--tokenizer tinker/bases/tiny --env bandit --iterations 1 --eval-tasks 4",
    },
    env: { TINKER_API_KEY: "tml-local" },
  },
  "docs/feedback.md": {
    names: { "https://whetstone.example.com": "http://127.0.0.1:$PORT" },
    before: `export WHETSTONE_KEY=$(whetstone keys create server --scope feedback --json | sed -E 's/.*"key":"([^"]*)".*/\\1/')
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
  "docs/judges.md": {
    setUp: async (folder) => {
      const labels = codeOf("docs/judges.md", "jsonl");
      write(folder, "labels.jsonl", labels);
      write(folder, "more.jsonl", labels + lines(moreLabels));
      const judge = codeOf("docs/judges.md", "ts");
      for (const name of ["my-judge", "one", "two", "three"])
        write(folder, `${name}.ts`, judge.replace("prefers what is short", name));
      for (const name of ["my-scores", "reviewer"]) write(folder, `${name}.ts`, scoring(name));
      write(folder, "transcripts.jsonl", lines(transcripts));
      write(
        folder,
        "reply-labels.jsonl",
        lines(
          Array.from({ length: 40 }, (_, i) => ({
            ...transcripts[i % transcripts.length],
            prompt: `What is ${i} and ${i}?`,
            label: Number(i % 2 === 0),
          })),
        ),
      );
      write(folder, "aspect-labels.jsonl", lines(aspectLabels));
      write(folder, "agent.js", asking);
      write(folder, "config.ts", smallRun);
    },
    before: `
      whetstone serve --upstream https://api.openai.com/v1 >/dev/null
      OPENAI_BASE_URL=http://127.0.0.1:8600/v1 node agent.js 6 >/dev/null
      whetstone train --env bandit --engine tabular --iterations 1 --eval-tasks 1 --out runs/facts-grpo-1 >/dev/null`,
    answer: (body) =>
      JSON.stringify(body).includes("first") ? '{"why": "so", "first": 0.5}' : '{"why": "so", "score": 0.5}',
    names: {
      // it would go on for ever; a student needs more labels; a folder of a run of its own
      "--live": "--live --once --quiet 1s",
      "--against labels.jsonl --chat http://127.0.0.1:8080/v1 --model qwen3 --distil":
        "--against more.jsonl --chat $PROVIDER --model qwen3 --distil",
      "--on-alarm warn": "--on-alarm warn --out runs/warned",
      // feedback of five users and more, as in test/cli/judgeFit.test.ts
      "--against runs/whetstone.sqlite --fit": "--against aspect-labels.jsonl --fit",
      "--against runs/whetstone.sqlite --labels pairs": "--against labels.jsonl",
    },
  },
  "docs/self-play.md": {
    setUp: (folder) => write(folder, "config.ts", smallRun),
    names: { "--on-alarm warn": "--on-alarm warn --out runs/warned" },
  },
  "docs/from-ai-sdk.md": { setUp: (folder) => write(folder, "my-agent.js", asking) },
  "docs/from-dspy.md": {
    setUp: (folder) => write(folder, "environment.ts", ownTickets),
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
    names: { "SmolLM2-135M-Instruct.Q4_1.gguf": small("gguf/smollm.gguf") },
  },
};
