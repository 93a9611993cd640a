/** OpenAI's Responses API, read as the chat completions that its requests and answers amount to. */
import { chatMessage, toolOf } from "../../common/text/chatWire.ts";
import { withTools } from "../../common/text/systemMessage.ts";
import { type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import { type Asked, askedBy } from "./asked.ts";
import type { AnswerReader, EarlierItems, Protocol } from "./protocol.ts";

export const responses: Protocol = {
  route: "/responses",
  prefix: "resp_",
  userOf: (body) => textOf(objectOf(body)?.user),
  read: readRequest,
  expected: "The body is no JSON object. Send a request for a response as OpenAI documents it.",
  reader,
  statesUsage: true,
  continues: (body) => textOf(objectOf(body)?.previous_response_id),
};

/** Fields of the body that the record stores separately. */
const apart: ReadonlySet<string> = new Set(["input", "instructions", "tools", "model", "user", "metadata"]);

/** The upstream may take a request without input, such as one with a stored prompt; it is recorded without messages. */
function readRequest(body: Json | undefined, earlier: EarlierItems): Asked | undefined {
  const given = objectOf(body);
  if (!given) return undefined;
  const instructions = textOf(given.instructions);
  const items =
    typeof given.input === "string" ? [{ role: "user", content: given.input }] : listOf(given.input);
  const said = [
    ...(instructions === undefined ? [] : [{ role: "system", content: instructions }]),
    ...messagesOf(items.map((item) => named(item, earlier))),
  ];
  // a tool's name, description and parameters stand beside its type here, not below it
  const tools = listOf(given.tools).flatMap((tool) => toolOf({ function: tool }));
  return askedBy(given, withTools(said.map(chatMessage), tools), apart);
}

/** The item itself in place of its id, where it is known. */
function named(item: Json, earlier: EarlierItems): Json {
  const given = objectOf(item);
  const id = textOf(given?.id);
  const isReference = given?.type === "item_reference" || (given && !("type" in given) && !("role" in given));
  if (id === undefined || !isReference) return item;
  return earlier.item(id) ?? { role: "user", content: [{ type: "item_reference", id }] };
}

/** Items as messages: an assistant's neighbouring texts and calls are one message, as in its answer. */
function messagesOf(items: readonly Json[]): JsonObject[] {
  const messages: JsonObject[] = [];
  for (const item of items) {
    const message = messageOf(item);
    if (!message) continue;
    const last = messages.at(-1);
    if (last?.role === "assistant" && message.role === "assistant") {
      messages[messages.length - 1] = {
        role: "assistant",
        content: [...listOf(last.content), ...listOf(message.content)],
        tool_calls: [...listOf(last.tool_calls), ...listOf(message.tool_calls)],
      };
    } else messages.push(message);
  }
  return messages;
}

/** An item in the chat format; nothing for reasoning and the upstream's own steps, such as its searches. */
function messageOf(item: Json): JsonObject | undefined {
  const given = objectOf(item) ?? {};
  const type = textOf(given.type) ?? "message";
  if (type === "message") {
    const parts =
      typeof given.content === "string" ? [{ type: "text", text: given.content }] : listOf(given.content);
    return { role: given.role ?? "user", content: parts.map(partOf) };
  }
  const call = callOf(given);
  if (call) return { role: "assistant", content: [], tool_calls: [call] };
  if (!type.endsWith("_output")) return undefined;
  const { output } = given;
  const content =
    typeof output === "string" || Array.isArray(output) ? output : output === undefined ? "" : [output];
  return { role: "tool", tool_call_id: given.call_id ?? "", content };
}

/** A refusal's text is text. */
const partOf = (part: Json): Json => {
  const refusal = textOf(objectOf(part)?.refusal);
  return refusal === undefined ? part : { type: "text", text: refusal };
};

function callOf({ type, call_id, name, arguments: given, input }: JsonObject): JsonObject | undefined {
  if (type === "function_call")
    return { id: call_id ?? "", function: { name: name ?? "", arguments: given ?? "" } };
  if (type === "custom_tool_call")
    return { id: call_id ?? "", custom: { name: name ?? "", input: input ?? "" } };
  return undefined;
}

/** Events that end a stream. */
const last: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

function reader(note: (id: string, item: Json) => void): AnswerReader {
  let isDone = false;
  /** Whether pieces of the output came before the response that closes the stream. */
  let hasPieces = false;
  /** Kinds of the calls, by their place in the output. */
  const kinds = new Map<number, "function" | "custom">();

  const piece = (delta: JsonObject): Json[] => {
    hasPieces = true;
    return [{ choices: [{ index: 0, delta }] }];
  };

  /** A response; its output only if it did not come before in pieces. */
  function whole(response: JsonObject): Json[] {
    const output = listOf(response.output);
    for (const item of output) noted(item);
    const calls = output.flatMap((item) => callOf(objectOf(item) ?? {}) ?? []);
    const content = output.map((item) => textOfItem(item)).join("");
    const finish = finishOf(response);
    const has = !hasPieces && output.length > 0;
    const used = objectOf(response.usage);
    const message = has ? { content, tool_calls: calls } : {};
    return [
      {
        ...(response.id === undefined ? {} : { id: response.id }),
        ...(objectOf(response.error) ? { error: response.error! } : {}),
        ...(used ? { usage: usageOf(used) } : {}),
        ...(has || (hasPieces && finish !== undefined)
          ? { choices: [{ index: 0, delta: message, finish_reason: finish ?? null }] }
          : {}),
      },
    ];
  }

  function noted(value: Json): void {
    const id = textOf(objectOf(value)?.id);
    if (id !== undefined) note(id, value);
  }

  return {
    isDone: () => isDone,
    read(value) {
      const event = objectOf(value) ?? {};
      const type = textOf(event.type);
      if (type === undefined || !("type" in event)) return whole(event);
      const index = numberOf(event.output_index) ?? 0;
      switch (type) {
        case "response.output_item.added": {
          const item = objectOf(event.item) ?? {};
          const call = callOf(item);
          if (!call) return [];
          kinds.set(index, item.type === "custom_tool_call" ? "custom" : "function");
          return piece({ tool_calls: [{ index, ...call }] });
        }
        case "response.output_item.done":
          noted(event.item ?? null);
          return [];
        case "response.output_text.delta":
        case "response.refusal.delta":
          return piece({ content: event.delta ?? "" });
        case "response.function_call_arguments.delta":
        case "response.custom_tool_call_input.delta": {
          const more = event.delta ?? "";
          const call =
            kinds.get(index) === "custom" ? { custom: { input: more } } : { function: { arguments: more } };
          return piece({ tool_calls: [{ index, ...call }] });
        }
        case "error":
          isDone = true;
          return [
            {
              error: objectOf(event.error) ?? {
                message: textOf(event.message) ?? "the upstream reported an error",
              },
            },
          ];
        default: {
          const response = objectOf(event.response);
          if (last.has(type)) isDone = true;
          return response && (last.has(type) || type === "response.created") ? whole(response) : [];
        }
      }
    },
  };
}

const textOfItem = (item: Json): string => {
  const { type, content } = objectOf(item) ?? {};
  if (type !== "message") return "";
  return listOf(content)
    .map((part) => textOf(objectOf(part)?.text) ?? textOf(objectOf(part)?.refusal) ?? "")
    .join("");
};

const usageOf = ({ input_tokens, output_tokens }: JsonObject): Json => ({
  prompt_tokens: input_tokens ?? 0,
  completion_tokens: output_tokens ?? 0,
});

/** Nothing while the answer is not whole, or failed. */
function finishOf({ status, incomplete_details, error }: JsonObject): string | undefined {
  if (status === "completed" || (status === undefined && !objectOf(error))) return "stop";
  if (status !== "incomplete") return undefined;
  return objectOf(incomplete_details)?.reason === "max_output_tokens" ? "length" : "content_filter";
}
