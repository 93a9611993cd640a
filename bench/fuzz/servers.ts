/** Every server of ours as a process of its own, with what can be asked of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { started } from "../gateway/started.ts";
import { artefactFiles, type Endpoint, endpointsOf, type There } from "./endpoints.ts";
import type { GoodRequest } from "./fuzz.ts";
import type { Pause } from "./heartbeat.ts";
import { tinkerEndpoints } from "./tinkerEndpoints.ts";

export const serverNames = ["gateway", "dashboard", "tinker", "openenv", "agent"] as const;
export type ServerName = (typeof serverNames)[number];

export interface FuzzedServer {
  readonly port: number;
  readonly endpoints: readonly Endpoint[];
  readonly good: readonly GoodRequest[];
  /** Of a server that takes artefacts over it. */
  readonly version?: string;
  /** The longest pause of its event loop since this was asked last. */
  pause(): Promise<Pause>;
  /** Once nothing that was taken waits to be written. */
  settled(): Promise<void>;
  /** Resident memory, MiB. */
  memory(): number;
  /** What it said on standard error. */
  readonly log: readonly string[];
  /** How it ended, if it has. */
  ended(): string | undefined;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, "..", "..");
const json = { "content-type": "application/json" };
const ask = { model: "m", messages: [{ role: "user", content: "hello" }] };

/** @param folder for its files. @param store of the gateway and the dashboard. Default: a file in the folder. */
export async function startServer(
  name: ServerName,
  folder: string,
  store = join(folder, `${name}.sqlite`),
): Promise<FuzzedServer> {
  switch (name) {
    case "gateway":
      return await gateway(folder, store);
    case "dashboard":
      return await dashboard(folder, store);
    case "tinker":
      return await tinker(folder);
    case "openenv":
      return await openenv();
    case "agent":
      return await agent();
  }
}

type Started = Omit<FuzzedServer, "endpoints" | "good" | "version" | "settled"> & { readonly url: string };

/** A command of ours, or another script, under the heartbeat: its first line says where it is. */
async function launched(script: string, args: readonly string[]): Promise<Started> {
  const heartbeat = join(import.meta.dirname, "heartbeat.ts");
  const child: ChildProcess = spawn(process.execPath, ["--import", heartbeat, join(root, script), ...args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const log: string[] = [];
  createInterface({ input: child.stderr! }).on("line", (line) => log.push(line));
  let ended: string | undefined;
  child.once("exit", (code, signal) => {
    ended = `exit ${code ?? signal}`;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once("line", (line) => resolve(JSON.parse(line).url));
    child.once("exit", () => reject(new Error(log.join("\n"))));
  });
  return {
    url,
    port: Number(new URL(url).port),
    log,
    pause: () =>
      new Promise((resolve, reject) => {
        child.once("message", (pause: Pause) => resolve(pause));
        child.send("pause", (e) => {
          if (e) reject(e);
        });
      }),
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
    },
    ended: () => ended,
    async stop() {
      if (ended !== undefined) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    },
  };
}

const main = "src/cli/main.ts";
const atOnce = async (): Promise<void> => {};

async function gateway(folder: string, store: string): Promise<FuzzedServer> {
  await aRun(store, folder);
  const upstream = await started("upstream", []);
  const args = ["serve", "--upstream", `${upstream.url}/v1`, "--store", store, "--port", "0", "--json"];
  const server = await launched(main, [...args, "--redact", "all"]);
  const there = await gatewayThere(server.port, "run");
  return {
    ...server,
    endpoints: endpointsOf(there),
    version: there.version,
    good: [
      { path: "/v1/chat/completions", body: ask, status: 200 },
      {
        path: "/v1/feedback",
        body: { kind: "reaction", response: "r1", reaction: "thumbs_up" },
        status: 201,
      },
      { path: "/v1/feedback?response=r1&limit=1", status: 200 },
    ],
    settled: () => written(server.url),
    async stop() {
      await server.stop();
      await upstream.stop();
    },
  };
}

const health = z.object({ recorder: z.object({ pending: z.number() }) });

async function written(url: string): Promise<void> {
  for (;;) {
    const { recorder } = health.parse(await (await fetch(`${url}/healthz`)).json());
    if (recorder.pending === 0) return;
    await new Promise((next) => setTimeout(next, 20));
  }
}

/** A run for the dashboard to show. */
async function aRun(where: string, folder: string): Promise<void> {
  const runs = await openRunStore(where);
  const about = { env: "facts", method: "grpo", engine: "tabular", seed: 1, config: {} };
  await runs.startRun({ id: "run", name: "run", folder: join(folder, "run"), ...about });
  for (let k = 0; k < 20; k++)
    await runs.saveIteration("run", k, { metrics: { success: k / 20 }, trajectories: [] });
  await runs.close();
}

/** Makes one of everything that requests name, and lets half of the sessions be answered by a version that is told something. */
export async function gatewayThere(port: number, run: string): Promise<There> {
  const session = "s1";
  async function post<T>(path: string, body: object, shape: z.ZodType<T>): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { ...json, "x-whetstone-session": session },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status}: ${text}`);
    return shape.parse({ ...JSON.parse(text), headers: Object.fromEntries(answer.headers) });
  }
  const called = z.object({
    headers: z.object({ "x-whetstone-response": z.string(), "x-whetstone-version": z.string() }),
  });
  const { headers } = await post("/v1/chat/completions", ask, called);
  const version = headers["x-whetstone-version"];
  const made = z.object({ id: z.string() });
  const key = await post("/v1/keys", { label: "k", scopes: ["read"] }, made);
  const inline = { name: "first", kind: "instructions", files: artefactFiles.instructions };
  const stated = z.object({ id: z.string(), backend: z.object({ artefact: z.string() }) });
  const told = await post("/v1/versions", { artefact: inline, over: version }, stated);
  await post("/v1/splits", { shares: { [version]: 0.5, [told.id]: 0.5 } }, made);
  return {
    version,
    artefact: told.backend.artefact,
    response: headers["x-whetstone-response"],
    session,
    key: key.id,
    run,
  };
}

async function dashboard(folder: string, store: string): Promise<FuzzedServer> {
  await aRun(store, folder);
  const production = await openTrafficStore(store);
  const backend = { kind: "upstream", url: "http://127.0.0.1:9/v1" } as const;
  await production.addVersion({ id: "v1", name: "v1", backend, created: 1 });
  await production.close();
  const server = await launched(main, ["dashboard", "--store", store, "--port", "0", "--json"]);
  const there = { version: "v1", artefact: "a1", response: "r1", session: "s1", key: "k1", run: "run" };
  const elsewhere = /chat|models$|keys|tokens|traces|healthz/;
  return {
    ...server,
    endpoints: endpointsOf(there).filter(({ route }) => !elsewhere.test(route)),
    version: "v1",
    good: [
      { path: "/api/runs", status: 200 },
      { path: "/v1/feedback", body: { kind: "reaction", response: "r1", reaction: "up" }, status: 201 },
    ],
    settled: atOnce,
  };
}

async function tinker(folder: string): Promise<FuzzedServer> {
  const args = ["serve", "--tinker", "--checkpoints", join(folder, "tinker"), "--port", "0", "--json"];
  const server = await launched(main, args);
  const key = { "x-api-key": "tml-fuzz" };
  return {
    ...server,
    endpoints: await tinkerEndpoints(server.url, key),
    good: [
      { path: "/api/v1/healthz", status: 200 },
      { path: "/api/v1/create_session", body: { tags: [] }, headers: key, status: 200 },
      { path: "/api/v1/get_server_capabilities", headers: key, status: 200 },
    ],
    settled: atOnce,
  };
}

async function openenv(): Promise<FuzzedServer> {
  const server = await launched(main, ["serve", "--openenv", "facts", "--port", "0", "--json"]);
  const upgrade = [
    "upgrade: websocket",
    "connection: upgrade",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  return {
    ...server,
    endpoints: [
      { route: "GET /health" },
      { route: "GET /metadata" },
      { route: "GET /schema" },
      { route: "GET /ws", headers: upgrade },
      { route: "POST /ws", path: "/ws?x=1", body: { type: "reset", data: { seed: 1 } } },
    ],
    good: ["/health", "/metadata", "/schema"].map((path) => ({ path, status: 200 })),
    settled: atOnce,
  };
}

async function agent(): Promise<FuzzedServer> {
  const server = await launched("bench/fuzz/agentServer.ts", []);
  const headers = { authorization: "Bearer fuzz" };
  const header = ["authorization: Bearer fuzz"];
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const chat = { ...ask, max_tokens: 4, n: 1, stop: ["x"], logprobs: true, return_token_ids: true };
  return {
    ...server,
    endpoints: [
      { route: "POST /v1/chat/completions", body: { ...chat, tools }, headers: header },
      { route: "POST /v1/chat/completions", body: { ...chat, stream: true, seed: 1 }, headers: header },
      { route: "GET /v1/models", headers: header },
    ],
    good: [
      { path: "/v1/models", headers, status: 200 },
      { path: "/v1/chat/completions", body: { ...ask, max_tokens: 2 }, headers, status: 200 },
    ],
    settled: atOnce,
  };
}
