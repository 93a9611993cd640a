/** The tools of any MCP server as an environment: the agent calls them until it answers in words. */
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import PQueue from "p-queue";
import { jsonOrText, readCalls } from "../../common/text/toolCalls.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Message, Task, Tool, ToolCall } from "../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type SplitName,
} from "../environment.ts";

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

/** A task for an agent with the tools of an MCP server: what it is asked, and, if there is one, the right answer. */
export interface McpTask {
  readonly prompt: string;
  readonly reference?: string;
  /** Calls that are made before the agent sees anything, e.g. to put the server's state in order. */
  readonly before?: readonly { readonly tool: string; readonly arguments?: Readonly<Record<string, Json>> }[];
}

/** Settings of {@link mcpEnvironment}. */
export interface McpOptions {
  readonly name: string;
  readonly summary?: string;
  readonly server: McpServer;
  readonly splits: Readonly<Record<SplitName, readonly McpTask[]>>;
  /** Said before every task. */
  readonly system?: string;
  /** Only these tools are offered. Default: all of the server's. */
  readonly tools?: readonly string[];
  /**
   * What the agent's answer is worth: true or false, or named rewards of which `success` says whether it was right.
   * Default: the answer contains the reference. May call tools, to look at what was done.
   */
  readonly score?: (
    task: McpTask,
    answer: string,
    call: (tool: string, given?: Readonly<Record<string, Json>>) => Promise<string>,
  ) => boolean | Readonly<Record<string, number>> | Promise<boolean | Readonly<Record<string, number>>>;
  /** "episode": a connection, and with a command a process, for every episode. "shared": one for all. Default "episode". */
  readonly session?: "episode" | "shared";
  /** When a shared connection that no episode uses is ended, so that a run can end as well. Default 30. */
  readonly idleSeconds?: number;
  /** Connections at a time. Default 8. */
  readonly connections?: number;
  /** Longest wait for one call. Default 60. */
  readonly callSeconds?: number;
  /** How long a server that is gone is tried again at the start of an episode, before the episode is given up. Default 30. */
  readonly reconnectSeconds?: number;
  readonly limits?: Partial<Environment["limits"]>;
}

/** Longest result of a tool that is shown, in characters. */
const longest = 20_000;

/**
 * A reply with calls is answered by their results, each in a message of its own; one without ends the episode. A call that
 * the server refuses is answered with its words. A server that dies costs the episodes that it was in; later ones start
 * it, or find it, again.
 * @throws WhetstoneError `environment.broken` where no MCP server answers, `name.unknown` for a tool that it has not,
 * `package.missing` without the package @modelcontextprotocol/sdk.
 */
export async function mcpEnvironment(options: McpOptions): Promise<Environment> {
  const {
    name,
    server,
    splits,
    system = "",
    session = "episode",
    callSeconds = 60,
    reconnectSeconds = 30,
  } = options;
  const { score = contains, idleSeconds = 30 } = options;
  const limits = { turns: 12, actionTokens: 256, seconds: 600, ...options.limits };
  const queue = new PQueue({ concurrency: options.connections ?? 8 });
  const place = (): Promise<() => void> =>
    new Promise((got) => void queue.add(() => new Promise<void>((free) => got(free))));
  const tools = await offered(options);
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

  /** A connection to play on, and how it is given back. */
  async function taken(): Promise<{ readonly client: Client; giveBack(): Promise<void> }> {
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
  }

  async function start(task: Task): Promise<Episode> {
    const { client, giveBack } = await taken();
    const call = (tool: string, given: Readonly<Record<string, Json>> = {}): Promise<string> =>
      called(client, tool, given, callSeconds);
    const { split, index } = task.metadata as { readonly split: string; readonly index: number };
    const asked = splits[split]![index]!;
    let news: readonly Message[] = [];
    let ended = false;
    let made = 0;
    try {
      for (const { tool, arguments: given } of asked.before ?? []) await call(tool, given);
    } catch (e) {
      await giveBack();
      throw e;
    }

    async function answer({ id, name: tool, arguments: text }: ToolCall): Promise<Message> {
      const given = jsonOrText(text);
      const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
      const known = tools.some((t) => t.name === tool);
      const content = !known
        ? `There is no tool "${tool}".`
        : !isObject
          ? `The arguments of ${tool} are no JSON object: ${text.slice(0, 200)}`
          : await call(tool, given as Readonly<Record<string, Json>>);
      return { role: "tool", name: tool, toolCallId: id, content };
    }

    return {
      observe: async () => ({ role: "agent", observation: { messages: news } }),
      async act(action) {
        if (ended) return alreadyOver;
        const calls =
          action.toolCalls ??
          readCalls(action.content, tools).calls.map((written) => ({ ...written, id: `call_${made++}` }));
        if (calls.length > 0) {
          const results: Message[] = [];
          // in order: a later call may lean on what an earlier one did
          for (const one of calls) results.push(await answer(one));
          news = results;
          return {};
        }
        ended = true;
        const worth = await score(asked, action.content, call);
        const rewards = typeof worth === "boolean" ? { success: Number(worth) } : worth;
        return {
          rewards,
          end: { kind: "done", reason: "answered", success: (rewards.success ?? 0) > 0 },
        };
      },
      close: giveBack,
    };
  }

  return defineEnvironment({
    name,
    summary: options.summary ?? `answer with ${tools.length} tools of an MCP server`,
    abilities: new Set<never>(),
    tools,
    roles: ["agent"],
    splits: Object.keys(splits),
    limits,
    tasks: (split) =>
      (splits[split] ?? []).map(({ prompt, reference }, index) => ({
        id: `${name}/${split}/${index}`,
        prompt: [
          { role: "system", content: system, tools },
          { role: "user", content: prompt },
        ],
        metadata: { split, index },
        seed: index,
        ...(reference === undefined ? {} : { reference }),
      })),
    start,
  });
}

/** Does something about a failure, and throws it on. */
const failing =
  (first: () => unknown) =>
  async (e: unknown): Promise<never> => {
    await first();
    throw e;
  };

function contains({ reference }: McpTask, answer: string): boolean {
  return reference !== undefined && answer.toLowerCase().includes(reference.toLowerCase());
}

/** The server's tools as we write them, those that were asked for. */
async function offered({ server, tools: wanted, callSeconds = 60 }: McpOptions): Promise<readonly Tool[]> {
  const where = "command" in server ? [server.command, ...(server.args ?? [])].join(" ") : server.url;
  let client: Client | undefined;
  const found: Tool[] = [];
  try {
    client = await connect(server);
    let cursor: string | undefined;
    const asked = new Set<string | undefined>();
    do {
      asked.add(cursor);
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, {
        timeout: callSeconds * 1000,
      });
      for (const { name, description = "", inputSchema } of page.tools)
        found.push({ name, description, parameters: inputSchema as Json });
      cursor = page.nextCursor;
      // a server that sends in circles has said all that it has
    } while (cursor !== undefined && !asked.has(cursor));
  } catch (e) {
    if (e instanceof WhetstoneError) throw e;
    throw new WhetstoneError("environment.broken", {
      where,
      got: messageOf(e).replaceAll(/\s+/g, " "),
      expected: "an MCP server",
      fix: "Run the command by hand, or check the address.",
      cause: e,
    });
  } finally {
    await client?.close();
  }
  for (const name of wanted ?? []) {
    if (found.some((tool) => tool.name === name)) continue;
    throw new WhetstoneError("name.unknown", {
      where,
      got: `a wish for the tool "${name}"`,
      expected: `one of ${found.map((tool) => tool.name).join(", ")}`,
      fix: "Leave `tools` out to offer all of them.",
    });
  }
  return wanted ? found.filter((tool) => wanted.includes(tool.name)) : found;
}

async function connect(server: McpServer): Promise<Client> {
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

/** The result of a call as text; what the server says against the call is a result, a server that is gone is not. */
async function called(
  client: Client,
  name: string,
  given: Readonly<Record<string, Json>>,
  seconds: number,
): Promise<string> {
  const { McpError, ErrorCode } = await import("@modelcontextprotocol/sdk/types.js");
  try {
    const result = await client.callTool({ name, arguments: { ...given } }, undefined, {
      timeout: seconds * 1000,
    });
    const parts = Array.isArray(result.content) ? result.content : [];
    const text = parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
    return text.length > longest ? `${text.slice(0, longest)} …` : text;
  } catch (e) {
    const gone = [ErrorCode.ConnectionClosed, ErrorCode.RequestTimeout] as readonly number[];
    if (!(e instanceof McpError) || gone.includes(e.code)) throw e;
    return e.message;
  }
}
