// Clients in Python through the gateway: openai, anthropic and litellm. The upstream writes what the providers do. Those in
// JavaScript are tested (test/serve/gateway/officialClients.test.ts).
//
//     pip install openai anthropic litellm                              # into some Python
//     node bench/clients.ts --python PYTHON
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { providers } from "../test/serve/gateway/providers.ts";
import { recordingGateway } from "./recordingGateway.ts";

const { python } = new Command()
  .requiredOption("--python <path>", "a Python with openai, anthropic and litellm")
  .parse()
  .opts<{ readonly python: string }>();

interface Call {
  readonly client: string;
  readonly call: string;
  readonly ok: boolean;
  readonly came: string;
}

const answer = providers();
const { gateway, close } = await recordingGateway(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  await answer(text === "" ? {} : JSON.parse(text), response, request);
});
const calls: (Call & { readonly recorded: boolean })[] = [];

/** Runs a program that prints a line for each call; looks after each whether the gateway has recorded it. */
async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  let known = gateway.state().calls;
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith("{")) continue; // what a client says of itself
    const call = JSON.parse(line) as Call;
    const now = gateway.state().calls;
    calls.push({ ...call, recorded: now > known });
    known = now;
    console.error(
      `${call.ok ? "ok  " : "FAIL"} ${call.client}: ${call.call}${call.ok ? "" : ` (${call.came})`}`,
    );
  }
  const code = await ended;
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}

try {
  await run(python, [fileURLToPath(new URL("clients/clients.py", import.meta.url)), gateway.url]);
} finally {
  await close();
}
await replaceFile(
  join(import.meta.dirname, "results", "clients.md"),
  `${[
    "# Clients of others through the gateway",
    "",
    "Written by `node bench/clients.ts`. Each client was given the base URL and a key; the upstream writes what the providers do. Embeddings, models and counted tokens are passed on without a record.",
    "",
    "| client | call | works | recorded |",
    "| --- | --- | --- | --- |",
    ...calls.map(
      ({ client, call, ok, recorded }) =>
        `| ${client} | ${call} | ${ok ? "yes" : "no"} | ${recorded ? "yes" : "no"} |`,
    ),
    "",
  ].join("\n")}`,
);
if (calls.some(({ ok }) => !ok)) process.exitCode = 1;
