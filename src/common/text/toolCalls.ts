/** Tools and tool calls as text: writing them into prompts and parsing them from replies. */

import { type Json, objectOf } from "../../core/json.ts";
import type { Message, Tool, ToolCall } from "../../core/types.ts";
import { withoutBlocks } from "./blocks.ts";

/** A call without an id; the caller assigns ids. */
export type WrittenCall = Omit<ToolCall, "id">;

/** A parsed reply: its text and its tool calls. */
export interface ReadReply {
  /** The text around the calls, trimmed. */
  readonly content: string;
  readonly calls: readonly WrittenCall[];
}

/**
 * A call in a form that a word-level vocabulary can contain:
 * `<function=look> <parameter=item> red door </parameter> </function>`. Arguments other than text are written as JSON.
 */
export function writeCall(name: string, given: Readonly<Record<string, Json>>): string {
  const parameters = Object.entries(given).map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `<parameter=${key}> ${text} </parameter>`;
  });
  return [`<function=${name}>`, ...parameters, "</function>"].join(" ");
}

/** The names and parameters of tools as text, for models without a chat template for tools. */
export function writeTools(tools: readonly Tool[]): string {
  const each = tools.map(({ name, parameters }) => {
    const keys = Object.keys(objectOf(objectOf(parameters)?.properties) ?? {});
    return writeCall(name, Object.fromEntries(keys.map((key) => [key, ""]))).replaceAll(/\s+/g, " ");
  });
  return ["<tools>", ...each, "</tools>"].join(" ");
}

/** Whether a message is empty except for the tools that it offers. Formats that list tools separately leave it out. */
export const onlyOffers = ({ tools, content, toolCalls }: Message): boolean =>
  tools !== undefined && content === "" && !toolCalls;

/** A message as one text: its content, its calls, and the tools that it offers. */
export function writeMessage({ content, toolCalls = [], tools = [] }: Message): string {
  if (toolCalls.length + tools.length === 0) return content;
  const calls = toolCalls.map((call) => {
    const given = objectOf(parsed(call.arguments));
    return given ? writeCall(call.name, given) : `<function=${call.name}> ${call.arguments} </function>`;
  });
  return [content, ...calls, ...(tools.length > 0 ? [writeTools(tools)] : [])]
    .filter((t) => t !== "")
    .join(" ");
}

/**
 * Parses the calls in a reply, in any of the forms that published models write:
 * - `<tool_call>{"name": …, "arguments": {…}}</tool_call>` (Hermes, Qwen),
 * - `<function=NAME><parameter=KEY>value</parameter></function>`, also within `<tool_call>` (Qwen Coder; {@link writeCall}),
 * - a reply that consists of `{"name": …, "parameters": {…}}` alone (Llama).
 *
 * Strict: if one call is malformed, or names a tool that is not offered, the whole reply is content. Arguments are not
 * validated against their schema; in the second form the schema decides which values are parsed as JSON.
 */
export function readCalls(text: string, tools: readonly Tool[]): ReadReply {
  const nothing: ReadReply = { content: text, calls: [] };
  const offered = new Map(tools.map((tool) => [tool.name, tool]));
  const alone = readJson(text, offered);
  if (alone) return { content: "", calls: [alone] };
  // finds a whole call in either form; its contents are parsed afterwards
  const { rest: content, blocks } = withoutBlocks(text, /<tool_call>|<function=/g, (open) =>
    open === "<tool_call>" ? "</tool_call>" : "</function>",
  );
  const calls = blocks.map(({ open, inner, whole }): WrittenCall | undefined => {
    const within = (open[0] === "<tool_call>" ? inner : whole).trim();
    return readFunction(within, offered) ?? readJson(within, offered);
  });
  if (/<\/?tool_call>|<\/?function\b/.test(content)) return nothing;
  const whole = calls.filter((call) => call !== undefined);
  return whole.length < calls.length || whole.length === 0
    ? nothing
    : { content: content.trim(), calls: whole };
}

function readJson(text: string, offered: ReadonlyMap<string, Tool>): WrittenCall | undefined {
  const said = text.trim().startsWith("{") ? objectOf(parsed(text)) : undefined;
  if (!said || typeof said.name !== "string" || !offered.has(said.name)) return undefined;
  const given = said.arguments ?? said.parameters ?? {};
  const values = objectOf(typeof given === "string" ? parsed(given) : given);
  return values && { name: said.name, arguments: JSON.stringify(values) };
}

function readFunction(text: string, offered: ReadonlyMap<string, Tool>): WrittenCall | undefined {
  const [, name, body] = /^<function=([^\s<>]+)>([\s\S]*)<\/function>$/.exec(text) ?? [];
  const tool = name === undefined ? undefined : offered.get(name);
  if (name === undefined || body === undefined || !tool) return undefined;
  const { rest, blocks } = withoutBlocks(body, /<parameter=([^\s<>]+)>/g, () => "</parameter>");
  const given = blocks.map(({ open: [, key = ""], inner }) => [key, typed(inner.trim(), key, tool)] as const);
  if (rest.trim() !== "" || new Set(given.map(([key]) => key)).size < given.length) return undefined;
  return { name, arguments: JSON.stringify(Object.fromEntries(given)) };
}

/** Keeps a value as text where the schema says "string" or has no type; otherwise parses it as JSON where possible. */
function typed(text: string, key: string, tool: Tool): Json {
  const type = objectOf(objectOf(objectOf(tool.parameters)?.properties)?.[key])?.type ?? "string";
  const isText = type === "string" || (Array.isArray(type) && type.includes("string"));
  return isText ? text : jsonOrText(text);
}

/** The value of a JSON text; undefined for other texts. */
export function parsed(text: string): Json | undefined {
  // a thrown error costs a hundred times as much as parsing
  if (!/^\s*[[{"\d\-tfn]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of a JSON text; other texts are returned as they are. */
export function jsonOrText(text: string): Json {
  const value = parsed(text);
  return value === undefined ? text : value;
}

/** Limits of calls per message, and of characters of the arguments of one call and of all, up to which arguments are compared as parsed JSON. */
const [mostCalls, mostCharacters, mostOfAll] = [256, 2 ** 16, 2 ** 18];

/** A key that is equal for messages with equal content. Ids of calls are left out, since models neither read nor write them. */
export function keyOf({ role, content, name, toolCalls = [], tools = [] }: Message): string {
  const key = (said: (given: string) => Json): string => {
    const calls = toolCalls.map((call) => [call.name, said(call.arguments)]);
    return JSON.stringify([role, content, name, calls, tools]);
  };
  const asWritten = (given: string): string => given;
  const characters = toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
  if (toolCalls.length > mostCalls || characters > mostOfAll) return key(asWritten);
  try {
    return key((given) => (given.length > mostCharacters ? given : jsonOrText(given)));
  } catch {
    // the values are nested too deeply to serialise
    return key(asWritten);
  }
}
