/** Chat-completion requests as the gateway records them: read leniently, since what is odd is for the upstream to refuse. */

import { hash } from "node:crypto";
import { type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import type { Message, Tool } from "../../core/words.ts";
import { withTools } from "../../env/agent/request.ts";

type JsonObject = Readonly<Record<string, Json>>;

/** A request, read. */
export interface Asked {
  readonly body: JsonObject;
  /** As the client named it; "" where it named none. */
  readonly model: string;
  /** The whole conversation; the first message carries the tools, where any are offered. */
  readonly prompt: readonly Message[];
  /** Everything that is asked for beside words. */
  readonly settings: JsonObject;
  /** The body's own `user`. */
  readonly user?: string;
  /** The body's own `metadata`, as far as it is text. */
  readonly tags: Readonly<Record<string, string>>;
  readonly stream: boolean;
}

/** What has a place of its own in the record. */
const apart: ReadonlySet<string> = new Set(["messages", "tools", "functions", "model", "user", "metadata"]);
/** Names of tags that the gateway gives. */
const ours = "whetstone.";

/** @returns nothing where the body is no JSON object with a list of messages. */
export function readAsked(body: Json | undefined): Asked | undefined {
  const given = objectOf(body);
  if (!given || !Array.isArray(given.messages)) return undefined;
  const user = textOf(given.user);
  const tags = Object.entries(objectOf(given.metadata) ?? {}).filter(([name]) => !name.startsWith(ours));
  return {
    body: given,
    model: textOf(given.model) ?? "",
    prompt: withTools(listOf(given.messages).map(messageOf), listOf(given.tools).flatMap(toolOf)),
    settings: Object.fromEntries(Object.entries(given).filter(([name]) => !apart.has(name))),
    ...(user ? { user } : {}),
    tags: Object.fromEntries(tags.flatMap(([k, v]) => (typeof v === "string" ? [[k, v]] : []))),
    stream: given.stream === true,
  };
}

/** A message as the protocol has it, in our words; what it says beside text stands as a mark in its place. */
export function messageOf(value: Json): Message {
  const m = objectOf(value) ?? {};
  const name = textOf(m.name);
  const toolCallId = textOf(m.tool_call_id);
  const toolCalls = listOf(m.tool_calls).map(callOf);
  return {
    role: roleOf(m.role),
    content: contentOf(m.content),
    ...(name ? { name } : {}),
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...(toolCallId ? { toolCallId } : {}),
  };
}

function roleOf(role: Json | undefined): Message["role"] {
  switch (role) {
    case "developer":
    case "system":
      return "system";
    case "assistant":
    case "tool":
      return role;
    case "function":
      return "tool";
    default:
      return "user";
  }
}

/** Calls of functions, and of custom tools, whose input is any text. */
function callOf(value: Json) {
  const call = objectOf(value) ?? {};
  const custom = objectOf(call.custom);
  const named = objectOf(call.function) ?? custom ?? {};
  return {
    id: textOf(call.id) ?? "",
    name: textOf(named.name) ?? "",
    arguments: textOf(custom ? custom.input : named.arguments) ?? "",
  };
}

/** Text, or parts of which those that are text are joined. An image is `[image_url 4f0c…]`: its digest tells it apart. */
function contentOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => {
      const { type, text } = objectOf(part) ?? {};
      if (typeof text === "string") return text;
      return `[${textOf(type) ?? "part"} ${hash("sha256", JSON.stringify(part)).slice(0, 16)}]`;
    })
    .join("");
}

function toolOf(value: Json): Tool[] {
  const { function: declared, custom } = objectOf(value) ?? {};
  const { name, description, parameters } = objectOf(declared ?? custom) ?? {};
  if (typeof name !== "string") return [];
  return [
    {
      name,
      description: textOf(description) ?? "",
      parameters: objectOf(parameters) ?? { type: "object", properties: {} },
    },
  ];
}

/** Replies asked for. */
export const repliesOf = ({ settings }: Asked): number => numberOf(settings.n) ?? 1;
