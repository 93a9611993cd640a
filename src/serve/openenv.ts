/** Serves an environment over OpenEnv: every WebSocket is a session that plays one episode at a time. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { randomStream } from "../core/random.ts";
import type { Message, Task } from "../core/types.ts";
import type { Environment, Episode, Step } from "../env/environment.ts";
import { bound } from "../http/bound.ts";
import { keepUpgraded, limitedListener } from "../http/server.ts";
import type { Refused } from "./refusal.ts";
import { isLoopback, otherPage, senderKind, wrongName } from "./requestOrigin.ts";

/** Settings of {@link serveOpenEnv}. */
export interface OpenEnvServerOptions {
  readonly environment: Environment;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. Any address other than a loopback address needs a key. */
  readonly host?: string;
  /** Host names besides localhost that are accepted when there is no key. */
  readonly names?: readonly string[];
  /** Clients send it as `authorization: Bearer …`. Empty: no key. */
  readonly key?: string;
  /** Most concurrent sessions; further sessions get the error CAPACITY_REACHED. Default 64. */
  readonly sessions?: number;
}

/** A running OpenEnv server. */
export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

const inbound = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("reset"),
    data: z
      .looseObject({
        seed: z.int().min(0).optional(),
        split: z.string().optional(),
        index: z.int().min(0).optional(),
      })
      .default({}),
  }),
  z.object({ type: z.literal("step"), data: z.looseObject({ message: z.string() }) }),
  z.object({ type: z.literal("state"), data: z.unknown().optional() }),
  z.object({ type: z.literal("close"), data: z.unknown().optional() }),
]);
type Reset = Extract<z.infer<typeof inbound>, { type: "reset" }>["data"];

const known = new Set(["reset", "step", "state", "close"]);
const text = { type: "string" };
const schemas = {
  action: { type: "object", title: "Action", properties: { message: text }, required: ["message"] },
  observation: {
    type: "object",
    title: "Observation",
    properties: {
      messages: {
        type: "array",
        items: { type: "object", properties: { role: text, content: text }, required: ["role", "content"] },
      },
      role: text,
      legal: { type: "array", items: text },
      reason: text,
      success: { type: "boolean" },
    },
  },
  state: { type: "object", properties: { episode_id: text, step_count: { type: "integer" } } },
};

/**
 * Serves until closed. `reset` takes a `split` and an `index` within it, or a `seed`, which chooses a task of the first
 * split; the seed also seeds the randomness of the episode. An action is `{ message }`. An observation holds the new messages,
 * whose turn it is, and how the episode ended.
 * @throws WhetstoneError `config.invalid` for an address that other machines can reach, without a key.
 */
export async function serveOpenEnv(options: OpenEnvServerOptions): Promise<Served> {
  const { environment, port = 0, host = "127.0.0.1", names = [], key = "", sessions = 64 } = options;
  if (!isLoopback(host) && key === "") {
    throw new WhetstoneError("config.invalid", {
      where: "serveOpenEnv",
      got: `the address ${host} without a key`,
      expected: "a key, since other machines can reach that address",
      fix: "Set a key, or bind to 127.0.0.1.",
    });
  }
  const app = new Hono();
  app.get("/health", (c) => c.json({ status: "healthy" }));
  app.get("/metadata", (c) => c.json({ name: environment.name, description: environment.summary }));
  app.get("/schema", (c) => c.json(schemas));
  const answer = getRequestListener(app.fetch);
  const server = limitedListener((request, response) => {
    const refused = refusedAt(request, { key, names });
    if (refused) response.writeHead(refused.status).end(refused.message);
    else void answer(request, response);
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1 << 20 });
  let playing = 0;
  server.on("upgrade", (request, socket, head) => {
    // a client that disconnects early, or asks for an unknown path, is not an error of the server
    socket.on("error", () => socket.destroy());
    const [path] = (request.url ?? "").split("?");
    const refused = refusedAt(request, { key, names }) ?? (path === "/ws" ? undefined : nowhere);
    if (refused) return void socket.end(`HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}\r\n\r\n`);
    keepUpgraded(socket);
    sockets.handleUpgrade(request, socket, head, (client) => {
      // a client that breaks the protocol or the connection ends its own session only
      client.on("error", () => client.terminate());
      if (playing >= sessions) return refuse(client, sessions);
      playing++;
      client.on("close", () => playing--);
      play(client, environment);
    });
  });
  const url = await bound(server, host, port);
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        for (const client of sockets.clients) client.terminate();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Browsers let any page open sockets to this machine, and send the page's origin. */
function refusedAt(
  { method = "GET", headers }: IncomingMessage,
  { key, names }: { readonly key: string; readonly names: readonly string[] },
): Refused | undefined {
  const marks = { method, host: headers.host, origin: headers.origin, site: headers["sec-fetch-site"] };
  const isRight = timingSafeEqual(digest(headers.authorization ?? ""), digest(`Bearer ${key}`));
  if (key !== "" && !isRight) return noKey;
  const strange = key === "" ? wrongName(marks, names) : undefined;
  if (strange) return strange;
  return senderKind(marks) === "other page" ? otherPage(marks, "Ask from a program.") : undefined;
}

const noKey: Refused = {
  status: 401,
  code: "invalid_api_key",
  message: "Send the key as: authorization: Bearer …",
};
const nowhere: Refused = { status: 404, code: "unknown_url", message: "The socket is at /ws." };

const failure = (code: string, message: string, more: Readonly<Record<string, Json>> = {}): string =>
  JSON.stringify({ type: "error", data: { message, code, ...more } });

function refuse(client: WebSocket, sessions: number): void {
  const counts = { active_sessions: sessions, max_sessions: sessions };
  client.send(failure("CAPACITY_REACHED", `all ${sessions} sessions are in use`, counts));
  client.close();
}

/** Runs one session: handles its messages one at a time, in order, and reads no further message until the response is sent. */
function play(client: WebSocket, environment: Environment): void {
  let episode: Episode | undefined;
  let [id, steps, ended] = ["", 0, true];
  let turn: Promise<void> = Promise.resolve();

  async function reset(data: Reset): Promise<string> {
    const last = episode;
    [episode, ended] = [undefined, true];
    await last?.close?.();
    const { task, seed } = chosen(environment, data);
    episode = await environment.start(task, randomStream(seed).split("environment"));
    [id, steps, ended] = [`${task.id}/${seed}`, 0, false];
    return observed(episode, task.prompt, {});
  }

  async function step(content: string): Promise<string> {
    if (!episode || ended) return failure("EXECUTION_ERROR", "no episode is under way: send reset first");
    const made = await episode.act({ content, stop: "eos" });
    steps++;
    const end = made.end ?? (steps >= environment.limits.turns ? cutOff : undefined);
    ended = end !== undefined;
    return observed(episode, [], { ...made, ...(end ? { end } : {}) });
  }

  async function hear(data: string): Promise<string | undefined> {
    let said: unknown;
    try {
      said = JSON.parse(data);
    } catch (e) {
      return failure("INVALID_JSON", messageOf(e));
    }
    const type = z.looseObject({ type: z.string() }).safeParse(said).data?.type ?? "";
    if (!known.has(type)) return failure("UNKNOWN_TYPE", `unknown message type "${type.slice(0, 50)}"`);
    const parsed = inbound.safeParse(said);
    if (!parsed.success) return failure("VALIDATION_ERROR", z.prettifyError(parsed.error));
    const message = parsed.data;
    if (message.type === "reset") return reset(message.data);
    if (message.type === "step") return step(message.data.message);
    if (message.type === "state")
      return JSON.stringify({ type: "state", data: { episode_id: id, step_count: steps } });
    client.close();
    return undefined;
  }

  let unanswered = 0;
  client.on("message", (data) => {
    if (unanswered++ === 0) client.pause();
    turn = turn.then(async () => {
      const reply = await hear(data.toString()).catch((e: unknown) =>
        failure("EXECUTION_ERROR", messageOf(e)),
      );
      if (reply !== undefined && client.readyState === client.OPEN) client.send(reply);
      if (--unanswered === 0) client.resume();
    });
  });
  client.on("close", () => {
    turn = turn.then(() => episode?.close?.()).catch(() => undefined);
  });
}

const cutOff = { kind: "truncated", limit: "turns", at: 0 } as const;

/** @throws Error for an unknown split or index. */
function chosen(
  environment: Environment,
  { seed, split, index }: Reset,
): { readonly task: Task; readonly seed: number } {
  const name = split ?? environment.splits[0] ?? "train";
  const tasks = environment.splits.includes(name) ? environment.tasks(name) : [];
  const task = tasks[index ?? (tasks.length > 0 ? (seed ?? 0) % tasks.length : 0)];
  if (task) return { task, seed: seed ?? task.seed };
  throw new Error(`no task ${index ?? 0} in split "${name}": there are ${tasks.length}`);
}

/** The new messages for the role that acts next, the reward of the last action, and how the episode ended. */
async function observed(
  episode: Episode,
  prompt: readonly Message[],
  { rewards, text, end }: Step,
): Promise<string> {
  const next = end ? undefined : await episode.observe();
  const fresh = [
    ...prompt,
    ...(text === undefined ? [] : [{ role: "user" as const, content: text }]),
    ...(next?.observation.messages ?? []),
  ];
  const paid = rewards && Object.values(rewards).reduce((a, b) => a + b, 0);
  return JSON.stringify({
    type: "observation",
    data: {
      observation: {
        messages: fresh.map(({ role, content }) => ({ role, content })),
        ...(next ? { role: next.role } : {}),
        ...(next?.observation.legal ? { legal: next.observation.legal } : {}),
        ...(end?.kind === "done" ? { reason: end.reason } : end ? { reason: end.kind } : {}),
        ...(end?.kind === "done" && end.success !== undefined ? { success: end.success } : {}),
      },
      reward: paid ?? null,
      done: end !== undefined,
    },
  });
}
