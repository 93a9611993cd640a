/** Anthropic's Messages API, read as the chat completions that its requests and answers amount to. */
import { chatMessage, toolOf } from "../../common/text/chatWire.ts";
import { withTools } from "../../common/text/systemMessage.ts";
import { type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import { type Asked, askedBy } from "./asked.ts";
import type { AnswerReader, Protocol } from "./protocol.ts";

export const messages: Protocol = {
  route: "/messages",
  prefix: "msg_",
  userOf: (body) => textOf(objectOf(objectOf(body)?.metadata)?.user_id),
  read: readRequest,
  expected: "The body has no list of messages. Send a request for a message as Anthropic documents it.",
  reader,
  statesUsage: true,
};

/** Fields of the body that the record stores separately. */
const apart: ReadonlySet<string> = new Set(["messages", "system", "tools", "model", "metadata"]);

function readRequest(body: Json | undefined): Asked | undefined {
  const given = objectOf(body);
  if (!given || !Array.isArray(given.messages)) return undefined;
  const system = given.system === undefined ? [] : [{ role: "system", content: given.system }];
  const prompt = [...system, ...given.messages.flatMap(messagesOf)].map(chatMessage);
  const own = { user: messages.userOf(body), tags: {} };
  return askedBy(given, withTools(prompt, toolsOf(given.tools)), apart, own);
}

/** Tools with their own schema; the provider's own tools, such as its search, have only a type and a name. */
const toolsOf = (tools: Json | undefined) =>
  listOf(tools).flatMap((tool) => {
    const { name, description, input_schema } = objectOf(tool) ?? {};
    return toolOf({
      function: {
        name: name ?? null,
        ...(description === undefined ? {} : { description }),
        ...(input_schema === undefined ? {} : { parameters: input_schema }),
      },
    });
  });

/** A message in the chat format: results of tools, which come in a user's message, are messages of their own before it. */
function messagesOf(value: Json): Json[] {
  const { role = "user", content } = objectOf(value) ?? {};
  if (typeof content === "string") return [{ role, content }];
  const blocks = listOf(content);
  const results = blocks.flatMap((block) => {
    const { type, tool_use_id, content: found } = objectOf(block) ?? {};
    return type === "tool_result"
      ? [{ role: "tool", tool_call_id: tool_use_id ?? "", content: found ?? "" }]
      : [];
  });
  const calls = blocks.flatMap((block) => callOf(block) ?? []);
  const rest = blocks.filter((block) => isShown(textOf(objectOf(block)?.type) ?? "")).map(withoutMark);
  if (rest.length === 0 && calls.length === 0 && results.length > 0) return results;
  return [...results, { role, content: rest, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}

/** Without the mark of what is cached, which moves from message to message in the course of a conversation. */
function withoutMark(block: Json): Json {
  const { cache_control: _, ...rest } = objectOf(block) ?? {};
  return rest;
}

/** Blocks that are content: not calls and results, thinking, or the provider's own steps. */
const isShown = (type: string): boolean =>
  !/^(tool_use|tool_result|thinking|redacted_thinking|server_tool_use|mcp_tool_use|.+_tool_result)$/.test(
    type,
  );

function callOf(block: Json): JsonObject | undefined {
  const { type, id, name, input } = objectOf(block) ?? {};
  if (type !== "tool_use") return undefined;
  return { id: id ?? "", function: { name: name ?? "", arguments: JSON.stringify(input ?? {}) } };
}

function reader(): AnswerReader {
  let isDone = false;
  let usage: JsonObject = {};
  /** Calls whose arguments have not come yet, by block. */
  const unfilled = new Map<number, string>();

  const piece = (delta: JsonObject, more: JsonObject = {}): Json[] => [
    { choices: [{ index: 0, delta, ...more }] },
  ];

  function used(given: Json | undefined): JsonObject {
    const more = objectOf(given);
    if (!more) return {};
    usage = { ...usage, ...more };
    return { usage: usageOf(usage) };
  }

  return {
    isDone: () => isDone,
    read(value) {
      const event = objectOf(value) ?? {};
      const index = numberOf(event.index) ?? 0;
      switch (event.type) {
        case "message": {
          const blocks = listOf(event.content);
          const message = {
            content: blocks.map((block) => textOf(objectOf(block)?.text) ?? "").join(""),
            tool_calls: blocks.flatMap((block) => callOf(block) ?? []),
          };
          return [
            {
              id: event.id ?? null,
              ...used(event.usage),
              choices: [{ index: 0, message, ...stopOf(event) }],
            },
          ];
        }
        case "message_start": {
          const message = objectOf(event.message) ?? {};
          return [{ id: message.id ?? null, ...used(message.usage) }];
        }
        case "content_block_start": {
          const block = objectOf(event.content_block) ?? {};
          if (block.type === "text") return piece({ content: block.text ?? "" });
          if (block.type !== "tool_use") return [];
          unfilled.set(index, JSON.stringify(block.input ?? {}));
          return piece({
            tool_calls: [{ index, id: block.id ?? "", function: { name: block.name ?? "", arguments: "" } }],
          });
        }
        case "content_block_delta": {
          const delta = objectOf(event.delta) ?? {};
          if (delta.type === "text_delta") return piece({ content: delta.text ?? "" });
          // the provider's own calls fill blocks in the same way
          if (delta.type !== "input_json_delta" || !unfilled.has(index)) return [];
          const more = textOf(delta.partial_json) ?? "";
          if (more !== "") unfilled.set(index, "");
          return piece({ tool_calls: [{ index, function: { arguments: more } }] });
        }
        case "content_block_stop": {
          const whole = unfilled.get(index);
          return whole ? piece({ tool_calls: [{ index, function: { arguments: whole } }] }) : [];
        }
        case "message_delta":
          return [
            {
              ...used(event.usage),
              choices: [{ index: 0, delta: {}, ...stopOf(objectOf(event.delta) ?? {}) }],
            },
          ];
        case "message_stop":
          isDone = true;
          return [];
        case "error":
          isDone = true;
          return [{ error: event.error ?? { message: "the upstream reported an error" } }];
        default:
          return objectOf(event.error) ? [{ error: event.error! }] : [];
      }
    },
  };
}

/** The input includes what was read from and written to the provider's cache. */
const usageOf = (usage: JsonObject): Json => ({
  prompt_tokens:
    (numberOf(usage.input_tokens) ?? 0) +
    (numberOf(usage.cache_creation_input_tokens) ?? 0) +
    (numberOf(usage.cache_read_input_tokens) ?? 0),
  completion_tokens: usage.output_tokens ?? 0,
});

/** The stop reason in words of chat completions. */
function stopOf({ stop_reason, stop_sequence }: JsonObject): JsonObject {
  switch (stop_reason) {
    case "max_tokens":
    case "model_context_window_exceeded":
      return { finish_reason: "length" };
    case "refusal":
      return { finish_reason: "content_filter" };
    case "stop_sequence":
      return { finish_reason: "stop", stop_reason: stop_sequence ?? "" };
    default:
      return typeof stop_reason === "string" ? { finish_reason: "stop" } : {};
  }
}
