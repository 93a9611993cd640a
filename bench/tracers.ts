// Tracers of others: an agent with one tool under each instrumentation, in Python and JavaScript, exports its spans to a real
// gateway. The model is a server that asks for the tool once and then answers.
//
//     python -m venv V && V/bin/pip install openai opentelemetry-sdk opentelemetry-exporter-otlp-proto-http openinference-instrumentation-openai opentelemetry-instrumentation-openai
//     npm install --ignore-scripts --prefix FOLDER openai ai @ai-sdk/otel @ai-sdk/openai-compatible @arizeai/openinference-core @arizeai/openinference-instrumentation-openai @traceloop/instrumentation-openai @opentelemetry/api @opentelemetry/resources @opentelemetry/sdk-trace-node @opentelemetry/exporter-trace-otlp-proto
//     node bench/tracers.ts --python V/bin/python --packages FOLDER
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Command } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { recordingGateway } from "./recordingGateway.ts";

const { python, packages } = new Command()
  .requiredOption("--python <path>", "a Python with the instrumentations")
  .requiredOption("--packages <folder>", "where the packages for JavaScript are installed")
  .parse()
  .opts<{ readonly python: string; readonly packages: string }>();

const here = (name: string): string => fileURLToPath(new URL(`tracers/${name}`, import.meta.url));
const question = "What colour is the door?";

/** Asks for the tool where the last message is the user's. */
const { gateway, production, upstream, close } = await recordingGateway(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { role: string }[] };
  const first = messages.at(-1)?.role === "user";
  const call = { id: "call-1", type: "function", function: { name: "look", arguments: '{"at":"door"}' } };
  const message = first ? { content: null, tool_calls: [call] } : { content: "It is red." };
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({
      id: `chatcmpl-${randomBytes(4).toString("hex")}`,
      object: "chat.completion",
      created: 1_700_000_000,
      model: "mock-model",
      choices: [
        {
          index: 0,
          finish_reason: first ? "tool_calls" : "stop",
          message: { role: "assistant", ...message },
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    }),
  );
});

const copied = join(packages, "whetstone-agent.mjs");
cpSync(here("agent.mjs"), copied);
const programs = [
  ...["openinference", "openllmetry"].map((name) => ({ command: python, script: here("agent.py"), name })),
  ...["openinference", "openllmetry", "ai-sdk", "ai-sdk-legacy"].map((name) => ({
    command: process.execPath,
    script: copied,
    name,
  })),
];
const rows: { readonly tracer: string; readonly came: Readonly<Record<string, boolean>> }[] = [];
try {
  for (const [i, { command, script, name }] of programs.entries()) {
    const session = `door-${i}`;
    const args = [script, upstream, `${gateway.url}/v1/traces`, name, session];
    const { stdout } = await promisify(execFile)(command, args);
    const told = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as { tracer: string; said: string };
    const responses = await Array.fromAsync(production.responses({ session }));
    const traced = await Array.fromAsync(production.traced({ session }));
    const [asked, answered] = responses;
    const came = {
      session: responses.length === 2 && new Set(responses.map(({ trajectory }) => trajectory)).size === 1,
      user: responses.every(({ user }) => user === "ann"),
      question: asked?.prompt.at(-1)?.content === question,
      "the model's call": asked?.choices[0]?.message.toolCalls?.[0]?.arguments === '{"at":"door"}',
      answer: answered?.choices[0]?.message.content === "It is red." && told.said === "It is red.",
      tokens: answered?.usage?.input === 5 && answered.usage.output === 3,
      "the tool's span": traced.some(
        ({ kind, name: of, output }) =>
          kind === "tool" && of === "look" && String(output).includes("a red door"),
      ),
    };
    rows.push({ tracer: told.tracer, came });
    console.error(
      `${Object.values(came).every(Boolean) ? "ok  " : "FAIL"} ${told.tracer} ${JSON.stringify(came)}`,
    );
  }
} finally {
  rmSync(copied);
  await close();
}
const columns = Object.keys(rows[0]?.came ?? {});
await replaceFile(
  join(import.meta.dirname, "results", "tracers.md"),
  `${[
    "# Tracers of others into the gateway",
    "",
    "Written by `node bench/tracers.ts`. An agent with one tool, under each instrumentation, exported its spans as protobuf to `POST /v1/traces`; what is in the store afterwards:",
    "",
    `| tracer | ${columns.join(" | ")} |`,
    `| --- |${" --- |".repeat(columns.length)}`,
    ...rows.map(
      ({ tracer, came }) => `| ${tracer} | ${columns.map((c) => (came[c] ? "yes" : "no")).join(" | ")} |`,
    ),
    "",
  ].join("\n")}`,
);
if (rows.some(({ came }) => Object.values(came).includes(false))) process.exitCode = 1;
