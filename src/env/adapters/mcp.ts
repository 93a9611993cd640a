/** The tools of any MCP server as an environment: the agent calls them until it answers in words. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
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
import { connect, connections, type McpServer } from "./mcpConnections.ts";

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
  const { name, splits, system = "", callSeconds = 60, score = contains } = options;
  const limits = { turns: 12, actionTokens: 256, seconds: 600, ...options.limits };
  const tools = await offered(options);
  const taken = connections(options);

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
