/** Messages and tools in OpenAI's chat format. Reading is lenient: input from clients is converted, not rejected. */
import { hash } from "node:crypto";
import { type Json, listOf, objectOf, textOf } from "../../core/json.ts";
import type { Message, Tool } from "../../core/types.ts";

/** Converts a message from the chat format. Content other than text becomes a placeholder. */
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

/** Converts a message to the chat format. Its tools are left out, since the format lists tools beside the messages. */
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

/** Calls of functions, and of custom tools, whose input is free text. */
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

/** The text, or the joined text parts. An image becomes `[image_url 4f0c…]`, where the digest distinguishes images. */
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

/** The declared tool; empty where it has no name. */
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
