/** The conversation in a span of a model call, in today's and earlier semantic conventions. */
import { withTools } from "../../common/text/systemMessage.ts";
import { type Json, listOf, objectOf, textOf } from "../../core/json.ts";
import type { ServedChoice } from "../../core/served.ts";
import type { Message, Tool, ToolCall } from "../../core/types.ts";
import type { Attributes, Span, SpanEvent } from "./attributes.ts";
import { jsonOrText } from "./attributeText.ts";
import { messagesUnder, nested, toolsUnder } from "./openinference.ts";

export interface Said {
  readonly prompt: readonly Message[];
  readonly choices: readonly ServedChoice[];
}

/**
 * The conversation of a span, in the first of these forms that is present:
 *
 * - `gen_ai.input.messages`, `gen_ai.output.messages` and `gen_ai.system_instructions`, on the span or on its event
 *   `gen_ai.client.inference.operation.details`, as JSON text or as structured values;
 * - events `gen_ai.system.message`, `gen_ai.user.message`…, `gen_ai.choice`;
 * - events `gen_ai.content.prompt` and `gen_ai.content.completion`;
 * - numbered attributes, `gen_ai.prompt.0.role`…;
 * - OpenInference's `llm.input_messages` and `llm.output_messages`;
 * - the AI SDK's own `ai.prompt.messages`, `ai.response.text` and `ai.response.toolCalls`.
 *
 * Content is opt-in in every form: a span may have none.
 */
export function repliesIn({ attributes, events }: Span): Said | undefined {
  const said =
    byMessages(attributes, events) ??
    byEvents(events) ??
    byContents(events) ??
    byNumber(attributes) ??
    byOpenInference(attributes) ??
    byAiSdk(attributes);
  return said && { ...said, prompt: withTools(said.prompt, toolsIn(attributes)) };
}

function byMessages(attributes: Attributes, events: readonly SpanEvent[]): Said | undefined {
  const details = events.find(({ name }) => name === "gen_ai.client.inference.operation.details");
  const of = (name: string): Json | undefined => read(attributes[name] ?? details?.attributes[name]);
  const [input, output] = [of("gen_ai.input.messages"), of("gen_ai.output.messages")];
  if (input === undefined && output === undefined) return undefined;
  const instructions = textOfParts(of("gen_ai.system_instructions"));
  const system: readonly Message[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  return { prompt: [...system, ...listOf(input).flatMap(inParts)], choices: choicesOf(listOf(output)) };
}

function byEvents(events: readonly SpanEvent[]): Said | undefined {
  const spoken = events.filter(({ name }) => /^gen_ai\.(system|user|assistant|tool)\.message$/.test(name));
  const chosen = events.filter(({ name }) => name === "gen_ai.choice");
  if (spoken.length + chosen.length === 0) return undefined;
  const content = ({ attributes }: SpanEvent): Json => read(attributes["gen_ai.event.content"]) ?? attributes;
  return {
    prompt: spoken.flatMap((event) => {
      const role = event.name.split(".")[1]!;
      return inParts({ role, ...objectOf(content(event)) });
    }),
    choices: choicesOf(
      chosen.map((event) => {
        const held = objectOf(content(event)) ?? {};
        return { ...held, ...objectOf(read(held.message)), finish_reason: held.finish_reason ?? null };
      }),
    ),
  };
}

function byContents(events: readonly SpanEvent[]): Said | undefined {
  const of = (name: string, field: string): Json | undefined =>
    read(events.find((event) => event.name === name)?.attributes[field]);
  const prompt = of("gen_ai.content.prompt", "gen_ai.prompt");
  const completion = of("gen_ai.content.completion", "gen_ai.completion");
  if (prompt === undefined && completion === undefined) return undefined;
  return { prompt: asList(prompt, "user"), choices: choicesOf(asList(completion, "assistant").map(asJson)) };
}

/** Collects messages from numbered attributes, with their numbered tool calls. */
interface Numbered {
  readonly fields: Record<string, Json>;
  readonly calls: Record<string, Record<string, Json>>;
}

function byNumber(attributes: Attributes): Said | undefined {
  const of = (what: string): Json[] => {
    const found: Numbered[] = [];
    for (const [name, value] of Object.entries(attributes)) {
      const [, at, field] = new RegExp(`^gen_ai\\.${what}\\.(\\d+)\\.(.+)$`).exec(name) ?? [];
      if (at === undefined || field === undefined || Number(at) > 10_000) continue;
      const message = (found[Number(at)] ??= {
        fields: { role: what === "prompt" ? "user" : "assistant" },
        calls: {},
      });
      const [, call, part] = /^tool_calls\.(\d+)\.(.+)$/.exec(field) ?? [];
      if (call === undefined || part === undefined) message.fields[field] = value;
      else (message.calls[call] ??= {})[part] = value;
    }
    return found
      .filter((message) => message !== undefined)
      .map(({ fields, calls }) => ({ ...fields, tool_calls: Object.values(calls) }));
  };
  const [prompt, completion] = [of("prompt"), of("completion")];
  if (prompt.length + completion.length === 0) return undefined;
  return { prompt: prompt.flatMap(inParts), choices: choicesOf(completion) };
}

function byOpenInference(attributes: Attributes): Said | undefined {
  const prompt = messagesUnder(attributes, "llm.input_messages");
  const replies = messagesUnder(attributes, "llm.output_messages");
  if (prompt === undefined && replies === undefined) return undefined;
  const reason = attributes["llm.finish_reason"] ?? null;
  return {
    prompt: (prompt ?? []).flatMap(inParts),
    choices: choicesOf((replies ?? []).map((reply) => ({ ...reply, finish_reason: reason }))),
  };
}

function byAiSdk(attributes: Attributes): Said | undefined {
  const prompt = read(attributes["ai.prompt.messages"]);
  const text = textOf(attributes["ai.response.text"]);
  const calls = read(attributes["ai.response.toolCalls"]);
  if (prompt === undefined && text === undefined && calls === undefined) return undefined;
  const reply = { role: "assistant", content: text ?? "", tool_calls: calls ?? [] };
  const choices = text === undefined && calls === undefined ? [] : [reply];
  const [reason = null] = [attributes["ai.response.finishReason"]];
  return {
    prompt: listOf(prompt).flatMap(inParts),
    choices: choicesOf(choices.map((one) => ({ ...one, finish_reason: reason }))),
  };
}

/** Parses JSON text; other values stay as they are. */
const read = (value: Json | undefined): Json | undefined =>
  typeof value === "string" ? jsonOrText(value) : value;

const asList = (value: Json | undefined, role: string): readonly Message[] =>
  typeof value === "string"
    ? inParts({ role, content: value })
    : listOf(value).flatMap((m) => inParts({ role, ...objectOf(m) }));

const asJson = ({ role, content, toolCalls = [] }: Message): Json => ({
  role,
  content,
  tool_calls: toolCalls.map((call) => ({ ...call })),
});

const roles: ReadonlyMap<string, Message["role"]> = new Map([
  ["system", "system"],
  ["developer", "system"],
  ["assistant", "assistant"],
  ["model", "assistant"],
  ["tool", "tool"],
]);

/** Converts a message of any form. A message with several tool results becomes several messages. */
function inParts(value: Json): readonly Message[] {
  const message = objectOf(value) ?? {};
  const role = roles.get(textOf(message.role) ?? "") ?? "user";
  const parts = [...listOf(read(message.parts)), ...listOf(read(message.content))];
  const results = parts.flatMap((part) => resultOf(part) ?? []);
  if (results.length > 0) return results;
  const calls = [...parts, ...listOf(read(message.tool_calls))].flatMap((part) => callOf(part) ?? []);
  const answered = textOf(message.tool_call_id) ?? (role === "tool" ? textOf(message.id) : undefined);
  const name = textOf(message.name);
  return [
    {
      role,
      content:
        typeof message.content === "string" && listOf(read(message.content)).length === 0
          ? message.content
          : textOfParts(parts),
      ...(calls.length > 0 ? { toolCalls: calls } : {}),
      ...(answered === undefined ? {} : { toolCallId: answered }),
      ...(name === undefined || role === "tool" ? {} : { name }),
    },
  ];
}

/** Joins the text parts. A model's reasoning is not part of its reply. */
function textOfParts(value: Json | undefined): string {
  if (typeof value === "string") return value;
  return listOf(value)
    .map((part) => {
      const { type, content, text } = objectOf(part) ?? {};
      return type === "text" ? (textOf(content) ?? textOf(text) ?? "") : "";
    })
    .join("");
}

function callOf(value: Json): ToolCall | undefined {
  const part = objectOf(value) ?? {};
  const made = objectOf(part.function) ?? part;
  const name = textOf(made.name ?? made.toolName);
  const isPart = part.type === "tool_call" || part.type === "tool-call";
  if (name === undefined || (part.type !== undefined && !isPart && part.type !== "function"))
    return undefined;
  const given = made.arguments ?? made.input ?? made.args ?? {};
  return {
    id: textOf(part.id ?? part.toolCallId) ?? "",
    name,
    arguments: typeof given === "string" ? given : JSON.stringify(given),
  };
}

function resultOf(value: Json): Message | undefined {
  const part = objectOf(value) ?? {};
  if (part.type !== "tool_call_response" && part.type !== "tool-result") return undefined;
  const held = part.response ?? part.result ?? objectOf(part.output)?.value ?? part.output ?? "";
  return {
    role: "tool",
    content: typeof held === "string" ? held : JSON.stringify(held),
    toolCallId: textOf(part.id ?? part.toolCallId) ?? "",
  };
}

const choicesOf = (replies: readonly Json[]): readonly ServedChoice[] =>
  replies.flatMap((reply) => {
    const [message] = inParts(reply);
    const reason = textOf(objectOf(reply)?.finish_reason);
    return message
      ? [
          {
            message: { ...message, role: "assistant" as const },
            stop: reason === "length" ? ("length" as const) : ("eos" as const),
          },
        ]
      : [];
  });

function toolsIn(attributes: Attributes): readonly Tool[] {
  const declared =
    read(attributes["gen_ai.tool.definitions"]) ??
    attributes["ai.prompt.tools"] ??
    nested(attributes, "llm.request.functions") ??
    toolsUnder(attributes);
  return listOf(declared).flatMap((one) => {
    const tool = objectOf(read(one)) ?? {};
    const { name, description, parameters: stated, inputSchema } = objectOf(tool.function) ?? tool;
    const parameters = read(stated);
    if (typeof name !== "string") return [];
    return [
      {
        name,
        description: textOf(description) ?? "",
        parameters: parameters ?? inputSchema ?? tool.inputSchema ?? {},
      },
    ];
  });
}
