// Clients in Python through the gateway: openai, anthropic and litellm. The upstream writes what the providers do. Those in
// JavaScript are tested (test/serve/gateway/officialClients.test.ts).
//
//     pip install openai anthropic litellm                              # into some Python
//     node bench/clients.ts --python PYTHON
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { openVersion, versionOf } from "../src/serve/gateway/open.ts";
import { serveProduction } from "../src/serve/gateway/server.ts";
import { liveVersions } from "../src/serve/gateway/versions.ts";
import { openTrafficStore } from "../src/store/openTrafficStore.ts";
import { recorder } from "../src/store/recorder.ts";
import { providers } from "../test/serve/gateway/providers.ts";

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
const upstream = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  await answer(text === "" ? {} : JSON.parse(text), response, request);
});
await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
const folder = mkdtempSync(join(tmpdir(), "whetstone-clients-"));
const production = await openTrafficStore(join(folder, "store.sqlite"));
const writing = recorder(production);
const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
await production.addVersion(versionOf({ kind: "upstream", url }, 0));
const versions = await liveVersions({
  production,
  open: (version) => openVersion(version, { environment: {}, clientKeysFor: url }),
});
const gateway = await serveProduction({ production, recorder: writing, versions, signing: randomBytes(32) });
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
  await gateway.close();
  await versions.close();
  await writing.close();
  await production.close();
  upstream.closeAllConnections();
  upstream.close();
  rmSync(folder, { recursive: true });
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
