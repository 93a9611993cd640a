/** Connections to an MCP server: one for each episode, or one that all share. */
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import PQueue from "p-queue";
import { messageOf, WhetstoneError } from "../../core/errors.ts";

/** A program that speaks MCP over its standard streams, or an address that speaks it over HTTP. */
export type McpServer =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** Beside the few variables that are safe to hand on. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** The settings of an MCP environment that concern its connections. */
interface ConnectionOptions {
  readonly server: McpServer;
  readonly session?: "episode" | "shared";
  readonly idleSeconds?: number;
  readonly connections?: number;
  readonly reconnectSeconds?: number;
}

export interface Taken {
  readonly client: Client;
  giveBack(): Promise<void>;
}

/** @returns a function that takes a connection to play on. */
export function connections(options: ConnectionOptions): () => Promise<Taken> {
  const { server, session = "episode", idleSeconds = 30, reconnectSeconds = 30 } = options;
  const queue = new PQueue({ concurrency: options.connections ?? 8 });
  const place = (): Promise<() => void> =>
    new Promise((got) => void queue.add(() => new Promise<void>((free) => got(free))));
  let shared: Promise<Client> | undefined;
  /** Episodes that use the shared connection, and what ends it once there are none. */
  let users = 0;
  let idle: NodeJS.Timeout | undefined;

  /** Connects; a server that is away is tried again for a while. */
  async function reach(): Promise<Client> {
    const began = performance.now();
    for (let pause = 100; ; pause = Math.min(5000, 2 * pause)) {
      try {
        return await connect(server);
      } catch (e) {
        if (performance.now() - began > reconnectSeconds * 1000) throw e;
        await wait(pause);
      }
    }
  }

  async function sharedClient(): Promise<Client> {
    const own = (shared ??= reach());
    // another may have taken its place by then
    const forget = (): void => {
      if (shared === own) shared = undefined;
    };
    const client = await own.catch(failing(forget));
    client.onclose = forget;
    return client;
  }

  function unused(): void {
    const last = shared;
    shared = undefined;
    void last?.then((client) => client.close()).catch(() => undefined);
  }

  return async function taken(): Promise<Taken> {
    if (session === "shared") {
      users++;
      clearTimeout(idle);
      let given = false;
      const giveBack = async (): Promise<void> => {
        if (!given && --users === 0) idle = setTimeout(unused, idleSeconds * 1000);
        given = true;
      };
      return { client: await sharedClient().catch(failing(giveBack)), giveBack };
    }
    const free = await place();
    const client = await reach().catch(failing(free));
    // only then is there room for another
    return { client, giveBack: () => client.close().finally(free) };
  };
}

/** Does something about a failure, and throws it on. */
const failing =
  (first: () => unknown) =>
  async (e: unknown): Promise<never> => {
    await first();
    throw e;
  };

export async function connect(server: McpServer): Promise<Client> {
  const load = <T>(part: Promise<T>): Promise<T> =>
    part.catch((cause: unknown) => {
      throw new WhetstoneError("package.missing", {
        where: "mcpEnvironment",
        got: `no package @modelcontextprotocol/sdk (${messageOf(cause)})`,
        expected: "it, to speak MCP",
        fix: "npm install @modelcontextprotocol/sdk",
        cause,
      });
    });
  const { Client: Made } = await load(import("@modelcontextprotocol/sdk/client/index.js"));
  const client = new Made({ name: "whetstone", version: "0" });
  if ("command" in server) {
    const { StdioClientTransport, getDefaultEnvironment } = await load(
      import("@modelcontextprotocol/sdk/client/stdio.js"),
    );
    const { command, args = [], env = {}, cwd } = server;
    const environment = { ...getDefaultEnvironment(), ...env };
    await client.connect(
      new StdioClientTransport({
        command,
        args: [...args],
        env: environment,
        stderr: "ignore",
        ...(cwd === undefined ? {} : { cwd }),
      }),
    );
    return client;
  }
  const { StreamableHTTPClientTransport } = await load(
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  );
  const { url, headers = {} } = server;
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
  });
  // the SDK's own types disagree under exactOptionalPropertyTypes
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}
