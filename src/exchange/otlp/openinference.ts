/** OpenInference's flattened attributes, such as `llm.input_messages.0.message.content`, as nested values. */
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import type { Attributes } from "./attributes.ts";

/** What stands under a prefix, nested along the dots; numbers are places in a list. Without the prefix: undefined. */
export function nested(attributes: Attributes, prefix: string): Json | undefined {
  const root = new Map<string, Branch>();
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(`${prefix}.`)) continue;
    let at = root;
    const path = name.slice(prefix.length + 1).split(".", mostParts + 1);
    if (path.length > mostParts) continue;
    for (const part of path.slice(0, -1)) {
      const next = at.get(part);
      const branch = next instanceof Map ? next : new Map<string, Branch>();
      at.set(part, branch);
      at = branch;
    }
    at.set(path.at(-1)!, value);
  }
  return root.size === 0 ? undefined : plain(root);
}
/** Most parts of a name: the convention's own have up to seven. */
const mostParts = 16;
type Branch = Json | Map<string, Branch>;

/** Lists are those whose names are all numbers, in the order of these. */
function plain(branch: Branch): Json {
  if (!(branch instanceof Map)) return branch;
  const entries = [...branch].map(([name, held]) => [name, plain(held)] as const);
  return entries.every(([name]) => /^\d{1,9}$/.test(name))
    ? entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value)
    : Object.fromEntries(entries);
}

/** The messages under a prefix in the form of chat completions. */
export const messagesUnder = (attributes: Attributes, prefix: string): readonly JsonObject[] | undefined => {
  const list = nested(attributes, prefix);
  return list === undefined ? undefined : listOf(list).map(messageOf);
};

function messageOf(value: Json): JsonObject {
  const message = objectOf(objectOf(value)?.message) ?? {};
  const parts = listOf(message.contents).map((part): JsonObject => {
    const { type, text } = objectOf(objectOf(part)?.message_content) ?? {};
    return { type: type ?? "text", text: text ?? "" };
  });
  const calls = listOf(message.tool_calls).map((one): JsonObject => {
    const call = objectOf(objectOf(one)?.tool_call) ?? {};
    return { id: call.id ?? "", type: "function", function: call.function ?? {} };
  });
  return {
    role: message.role ?? "user",
    content: message.content ?? parts,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(message.tool_call_id !== undefined && { tool_call_id: message.tool_call_id }),
    ...(message.name !== undefined && { name: message.name }),
  };
}

/** Tools under `llm.tools`: each states its definition as JSON text. */
export const toolsUnder = (attributes: Attributes): readonly Json[] =>
  listOf(nested(attributes, "llm.tools")).flatMap((one) => {
    const stated = objectOf(objectOf(one)?.tool)?.json_schema;
    return stated === undefined ? [] : [stated];
  });

/** The id of the provider's own answer, which some instrumentations keep whole as `output.value`. */
export function answerId(attributes: Attributes): string | undefined {
  if (attributes["output.mime_type"] !== "application/json") return undefined;
  const value = textOf(attributes["output.value"]);
  // reading the whole answer again for one short field would cost more than the rest of the span
  return value && /^\s*\{\s*"id"\s*:\s*"([^"\\]{1,200})"/.exec(value)?.[1];
}
