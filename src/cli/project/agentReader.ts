/**
 * Runs in the process in which the file of an agent is looked into: as `node agentReader.ts FILE`, or before the file as
 * `node --import agentReader.ts FILE`. It tells its parent which tools the file exports, or offers in its first request to a
 * model. The process may read files and do nothing else (Node's permissions, set by the parent), and no request leaves it.
 */
import { Socket } from "node:net";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { asSchema } from "ai";
import { parsed } from "../../common/text/toolCalls.ts";
import { messageOf } from "../../core/errors.ts";
import { type Json, objectOf } from "../../core/json.ts";

/** A tool as the agent offers it. */
export interface FoundTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments, an object. */
  readonly parameters: Json;
}

/** What was found in a file. */
export interface Found {
  readonly tools: readonly FoundTool[];
  /** The system prompt, where the agent states one. */
  readonly instructions?: string;
}

/** What the parent is told: what was found, or why nothing was. */
export type Told = Found | { readonly failed: string };

const tell = (told: Told): void => {
  process.send!(told, () => process.exit(0));
};

/** Tools in a request: those of OpenAI's chat completions and responses, and of Anthropic's messages. */
function listedTool(value: unknown): FoundTool | undefined {
  const tool = objectOf(value as Json);
  const inner = objectOf(tool?.function) ?? tool;
  if (!inner || typeof inner.name !== "string") return undefined;
  const parameters = objectOf(inner.parameters) ?? objectOf(inner.input_schema);
  if (!parameters && tool?.type !== "function") return undefined;
  const description = typeof inner.description === "string" ? inner.description : "";
  return { name: inner.name, description, parameters: parameters ?? { type: "object", properties: {} } };
}

const listedTools = (value: unknown): readonly FoundTool[] =>
  Array.isArray(value) ? value.map(listedTool).filter((tool) => tool !== undefined) : [];

/** A tool of the AI SDK: a schema, and a description or something to run. */
const isSdkTool = (
  value: unknown,
): value is { inputSchema: Parameters<typeof asSchema>[0]; description?: string } =>
  typeof value === "object" &&
  value !== null &&
  "inputSchema" in value &&
  ("execute" in value || "description" in value);

const sdkTool = async (
  name: string,
  { inputSchema, description = "" }: { inputSchema: Parameters<typeof asSchema>[0]; description?: string },
): Promise<FoundTool> => ({
  name,
  description,
  parameters: (await asSchema(inputSchema).jsonSchema) as Json,
});

/** Tools in an exported value: a tool, a set of tools, a list for a request, or an agent that has one of these. */
async function exportedTools(name: string, value: unknown): Promise<readonly FoundTool[]> {
  if (isSdkTool(value)) return [await sdkTool(name, value)];
  if (Array.isArray(value)) return listedTools(value);
  if (typeof value !== "object" || value === null) return [];
  const tools = Object.entries(value).filter((entry): entry is [string, Parameters<typeof sdkTool>[1]] =>
    isSdkTool(entry[1]),
  );
  if (tools.length > 0) return Promise.all(tools.map(([key, tool]) => sdkTool(key, tool)));
  return "tools" in value ? exportedTools(name, value.tools) : [];
}

/** The system prompt of a request. */
function instructionsOf(body: Readonly<Record<string, Json>>): string | undefined {
  const stated = body.instructions ?? body.system;
  if (typeof stated === "string") return stated;
  for (const message of [body.messages, body.input].flatMap((list) => (Array.isArray(list) ? list : []))) {
    const { role, content } = objectOf(message) ?? {};
    if ((role === "system" || role === "developer") && typeof content === "string") return content;
  }
  return undefined;
}

const found = (tools: readonly FoundTool[], instructions: string | undefined): Found => ({
  tools: [...new Map(tools.map((tool) => [tool.name, tool])).values()],
  ...(instructions && { instructions }),
});

/** Takes every request in place of the network: one that offers tools is what was looked for. */
function withoutNetwork(): void {
  const refuse = (): never => {
    throw new Error("no request leaves while the tools of the agent are read");
  };
  Socket.prototype.connect = refuse;
  globalThis.fetch = async (input, init) => {
    const text = input instanceof Request ? await input.text() : init?.body;
    const body = typeof text === "string" ? objectOf(parsed(text)) : undefined;
    const tools = listedTools(body?.tools);
    if (body && tools.length > 0) tell(found(tools, instructionsOf(body)));
    return refuse();
  };
}

/** What the exports of the file offer. */
async function exported(file: string): Promise<Found> {
  const module = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  const values = Object.entries(module);
  const tools = await Promise.all(values.map(([name, value]) => exportedTools(name, value)));
  const stated = values
    .map(([, value]) => objectOf(value as Json)?.instructions)
    .find((value) => typeof value === "string");
  return found(tools.flat(), stated);
}

if (process.send) {
  withoutNetwork();
  const failed = (e: unknown): void => tell({ failed: messageOf(e) });
  process.on("uncaughtException", failed).on("unhandledRejection", failed);
  // as the main module it imports the file; before another one (--import) it only waits for a request
  if (import.meta.main) tell(await exported(resolve(process.argv[2]!)));
}
