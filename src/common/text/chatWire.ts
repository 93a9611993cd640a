/** Messages and tools as OpenAI's chat protocol has them: read leniently, since what others sent is not ours to refuse. */
import { hash } from "node:crypto";
import { type Json, listOf, objectOf, textOf } from "../../core/json.ts";
import type { Message, Tool } from "../../core/types.ts";

/** A message as the protocol has it, in our words; what it says beside text stands as a mark in its place. */
export function chatMessage(value: Json): Message {
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

/** A message as the protocol has it. Tools that it offers stand beside the messages there, and are left out. */
export function wireMessage({ role, content, name, toolCalls, toolCallId }: Message): Json {
  return {
    role,
    content,
    ...(name === undefined ? {} : { name }),
    ...(toolCalls && {
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
      })),
    }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
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

/** A tool as it is declared; nothing where it has no name. */
export function toolOf(value: Json): Tool[] {
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

/** The conversation with its tools: on its system message, or on an empty one before it. */
export const withTools = (messages: readonly Message[], tools: readonly Tool[]): readonly Message[] =>
  tools.length === 0 ? messages : withSystem(messages, (first) => ({ ...first, tools }));

/** The conversation with its system message changed, an empty one where there is none. */
export function withSystem(
  messages: readonly Message[],
  change: (first: Message) => Message,
): readonly Message[] {
  const [first, ...rest] = messages;
  return first?.role === "system"
    ? [change(first), ...rest]
    : [change({ role: "system", content: "" }), ...messages];
}
