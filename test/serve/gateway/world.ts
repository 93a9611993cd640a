/** A gateway in front of a scripted upstream, with a store in memory. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Hono } from "hono";
import type { AccessKey, ServedResponse, TrafficSplit, Version } from "../../../src/core/served.ts";
import { limitedServer } from "../../../src/http/server.ts";
import { type Gated, gate } from "../../../src/serve/auth.ts";
import type { Answerer } from "../../../src/serve/gateway/answerer.ts";
import { type GatewayOptions, gateway } from "../../../src/serve/gateway/gateway.ts";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import { atEnd } from "../../room.ts";

/** Servers that a failed test left open; they would keep the process alive. */
const open = new Set<Server>();
atEnd(async () => {
  await Promise.all([...open].map(closed));
});

export interface Upstream {
  readonly url: string;
  /** Request bodies that it received. */
  readonly asked: Record<string, unknown>[];
  readonly headers: IncomingMessage["headers"][];
  close(): Promise<void>;
}

/** @param answer writes the response. */
export async function scripted(
  answer: (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => unknown,
): Promise<Upstream> {
  const asked: Record<string, unknown>[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
    asked.push(body);
    headers.push(request.headers);
    await answer(body, response, request);
  });
  const url = `${await listening(server)}/v1`;
  return { url, asked, headers, close: () => closed(server) };
}

export interface World {
  readonly url: string;
  readonly responses: ServedResponse[];
  readonly lines: string[];
  readonly splits: TrafficSplit[];
  readonly versions: Version[];
  readonly keys: AccessKey[];
  /** Reloads the splits now. */
  refresh(): Promise<void>;
  /** Waits until this many calls are recorded. */
  recorded(count: number): Promise<readonly ServedResponse[]>;
  state(): ReturnType<ReturnType<typeof gateway>["state"]>;
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** @param answerers by version; the first is the main one. */
export async function world(
  answerers: Readonly<Record<string, Answerer>>,
  options: Partial<GatewayOptions> = {},
  stored: ServedResponse[] = [],
): Promise<World> {
  const responses = stored;
  const lines: string[] = [];
  const splits: TrafficSplit[] = [];
  const keys: AccessKey[] = [];
  const versions = Object.keys(answerers).map(
    (id): Version => ({ id, name: id, backend: { kind: "local", name: id }, created: 0 }),
  );
  let heard = (): void => {};
  const record = (response: ServedResponse): void => {
    responses.push(response);
    heard();
  };
  const production = {
    async *responses({ session, id }: { readonly session?: string; readonly id?: string } = {}) {
      yield* responses.filter(
        (r) => (session === undefined || r.session === session) && (id === undefined || r.id === id),
      );
    },
    versions: async () => versions,
    splits: async () => splits,
    keys: async () => keys,
  };
  const live = await liveVersions({
    production,
    open: async ({ id }) => answerers[id]!,
    main: versions[0]!.id,
    log: (line) => lines.push(line),
  });
  const served = gateway({
    production,
    recorder: {
      record,
      recordPassed: () => undefined,
      recordDurably: async (response) => record(response),
      late: () => undefined,
    },
    versions: live,
    gate: gate({ production, open: true, signing: new Uint8Array(32) }),
    log: (line) => lines.push(line),
    ...options,
  });
  const app = new Hono<Gated>().route("/", served.app);
  const server = limitedServer(app.fetch);
  return {
    url: await listening(server),
    responses,
    lines,
    splits,
    versions,
    keys,
    refresh: live.refresh,
    state: served.state,
    drain: served.drain,
    async recorded(count) {
      while (responses.length < count) {
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
      return responses;
    },
    async close() {
      await closed(server);
      await live.close();
    },
  };
}

/** A gateway in front of one scripted upstream. */
export async function before(
  answer: Parameters<typeof scripted>[0],
  {
    of = {},
    ...options
  }: Partial<GatewayOptions> & { readonly of?: Partial<Parameters<typeof upstream>[0]> } = {},
): Promise<World & { readonly upstream: Upstream }> {
  const behind = await scripted(answer);
  const made = await world({ main: upstream({ url: behind.url, clientKeys: true, ...of }) }, options);
  return {
    ...made,
    upstream: behind,
    async close() {
      await made.close();
      await behind.close();
    },
  };
}

type Server = ReturnType<typeof createServer>;

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.add(server);
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    open.delete(server);
    server.close(() => resolve());
    server.closeAllConnections();
  });
