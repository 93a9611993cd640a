/** Helpers for imported data: field names in either case, times, embedded JSON, and several forms of conversations. */
import { chatMessage, toolOf } from "../../common/text/chatWire.ts";
import { withTools } from "../../common/text/systemMessage.ts";
import { parsed } from "../../common/text/toolCalls.ts";
import { type Json, listOf, objectOf, textOf } from "../../core/json.ts";
import type { ServedChoice } from "../../core/served.ts";
import type { Message } from "../../core/types.ts";

export type Fields = Readonly<Record<string, Json>>;

/** A record with camel-case names, whatever their original case; empty texts and null count as absent. */
export function fieldsOf(value: Json): Fields {
  const entries = Object.entries(objectOf(value) ?? {}).filter(([, v]) => v !== null && v !== "");
  return Object.fromEntries(entries.map(([name, v]) => [camel(name), v]));
}

const camel = (name: string): string =>
  name
    .replaceAll(/[_ ]+([a-zA-Z0-9])/g, (_, c: string) => c.toUpperCase())
    .replace(/^[A-Z]/, (c) => c.toLowerCase());

/** Milliseconds since 1970 from a time as text, seconds or milliseconds. A time without a zone is in UTC. */
export function timeOf(value: Json | undefined): number | undefined {
  if (typeof value === "number") return value < 1e11 ? value * 1000 : value;
  if (typeof value !== "string") return undefined;
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value.replace(" ", "T")}Z`;
  const time = Date.parse(zoned.replace(/(\.\d{3})\d+/, "$1"));
  return Number.isNaN(time) ? undefined : time;
}

/** Parses a text that holds a JSON object or list; other values stay as they are. */
export const unwrapped = (value: Json | undefined): Json | undefined =>
  typeof value === "string" && /^\s*[[{]/.test(value) ? (parsed(value) ?? value) : value;

/**
 * A conversation: a list of messages in OpenAI's or LangChain's form, an object with such a list under `messages` (and
 * `tools` beside it), or a text, which is a user message. Undefined for anything else.
 */
export function conversationOf(value: Json | undefined): readonly Message[] | undefined {
  const given = unwrapped(value);
  if (typeof given === "string") return given === "" ? undefined : [{ role: "user", content: given }];
  const object = objectOf(given);
  const inner = object ? (object.messages ?? object.chat_history ?? object.input) : undefined;
  if (inner !== undefined && inner !== given) {
    const said = conversationOf(inner);
    return said && withTools(said, listOf(object?.tools).flatMap(toolOf));
  }
  const list = listOf(given);
  // LangChain puts conversations into batches
  if (list.length === 1 && Array.isArray(list[0])) return conversationOf(list[0]);
  if (list.length === 0 || !list.every((m) => isMessage(m))) return undefined;
  return list.map(messageIn);
}

/** The replies of a model: a message, a list that ends with one, a completion with choices, or a text. */
export function repliesOf(value: Json | undefined): readonly ServedChoice[] {
  const given = unwrapped(value);
  if (typeof given === "string") return [choice({ role: "assistant", content: given })];
  if (Array.isArray(given)) return given.length > 0 ? repliesOf(given.at(-1)) : [];
  const object = objectOf(given);
  if (!object) return [];
  if (Array.isArray(object.choices)) {
    return object.choices.flatMap((one: Json) => {
      const { message, finish_reason: reason } = objectOf(one) ?? {};
      return objectOf(message) ? [choice(messageIn(message!), textOf(reason))] : [];
    });
  }
  if (Array.isArray(object.generations)) {
    const generations: readonly Json[] = listOf(object.generations).flatMap((g) =>
      Array.isArray(g) ? listOf(g) : [g],
    );
    return generations.flatMap((one) => {
      const { message, text } = objectOf(one) ?? {};
      return objectOf(message) ? [choice(messageIn(message!))] : repliesOf(text);
    });
  }
  if (isMessage(object)) return [choice(messageIn(object))];
  const inner =
    object.message ?? object.messages ?? object.output ?? object.content ?? object.text ?? object.answer;
  return inner === undefined ? [] : repliesOf(inner);
}

function choice(message: Message, reason?: string): ServedChoice {
  return { message: { ...message, role: "assistant" }, stop: reason === "length" ? "length" : "eos" };
}

const langChainRoles: Readonly<Record<string, Message["role"]>> = {
  human: "user",
  HumanMessage: "user",
  ai: "assistant",
  AIMessage: "assistant",
  AIMessageChunk: "assistant",
  system: "system",
  SystemMessage: "system",
  tool: "tool",
  ToolMessage: "tool",
};

/** LangChain's constructors and its plain form: the message's fields beside its role. */
function langChain(value: Json): { readonly role: Message["role"]; readonly held: Fields } | undefined {
  const object = objectOf(value);
  if (!object || object.role !== undefined) return undefined;
  const held = objectOf(object.kwargs) ?? objectOf(object.data) ?? object;
  const name = textOf(listOf(object.id).at(-1)) ?? textOf(object.type) ?? "";
  const role = langChainRoles[name] ?? langChainRoles[textOf(held.type) ?? ""];
  return role && { role, held };
}

const isMessage = (value: Json): boolean =>
  typeof objectOf(value)?.role === "string" || langChain(value) !== undefined;

/** A message in OpenAI's or LangChain's form. */
export function messageIn(value: Json): Message {
  const other = langChain(value);
  if (!other) return chatMessage(withTextArguments(value));
  const { role, held } = other;
  const calls = listOf(held.tool_calls).map((call) => {
    const { id, name, args } = objectOf(call) ?? {};
    return { id: textOf(id) ?? "", name: textOf(name) ?? "", arguments: JSON.stringify(args ?? {}) };
  });
  const plain = chatMessage({ ...held, role, tool_calls: [] });
  return calls.length > 0 ? { ...plain, toolCalls: calls } : plain;
}

/** Arguments of tool calls as JSON text; some tools store them as values. */
function withTextArguments(value: Json): Json {
  const object = objectOf(value);
  if (!object || !Array.isArray(object.tool_calls)) return value;
  const calls = listOf(object.tool_calls).map((call): Json => {
    const made = objectOf(objectOf(call)?.function);
    if (!made || typeof made.arguments === "string") return call;
    return { ...objectOf(call), function: { ...made, arguments: JSON.stringify(made.arguments ?? {}) } };
  });
  return { ...object, tool_calls: calls };
}
