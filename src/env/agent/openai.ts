/** The chat-completions protocol: its requests read into our words, our replies written in its form. */
import { z } from "zod";
import type { Json } from "../../core/json.ts";
import { parsed, readCalls } from "../../core/toolCalls.ts";
import type { Message, StopReason, Tool, ToolCall } from "../../core/words.ts";
import type { SampledAction } from "../environment.ts";

/** What one request asks for. What is absent was not asked for. */
export interface ChatCall {
  /** As the client names it; any name is taken. */
  readonly model: string;
  /** The whole conversation. The first message carries the tools, where any are offered. */
  readonly messages: readonly Message[];
  /** Tools that may be called. */
  readonly tools: readonly Tool[];
  /** Replies asked for. */
  readonly n: number;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly logprobs: boolean;
  /** vLLM's `return_token_ids`: the exact tokens beside the text. */
  readonly tokenIds: boolean;
  /** Of several calls in a reply, only the first one counts. */
  readonly oneCall: boolean;
  readonly json: boolean;
}

/** One reply, as the model gave it. */
export interface Completion {
  /** The whole text, calls and stop string included. */
  readonly text: string;
  readonly stop: StopReason;
  /** Calls that a provider has read already, in place of those in the text. */
  readonly toolCalls?: readonly ToolCall[];
  readonly sampled?: SampledAction;
}

/** A request that gets no reply, in the protocol's own terms. */
export interface Refusal {
  readonly status: 400 | 401 | 404 | 410 | 429 | 500;
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

/** A reply as the client sees it. */
export interface Reply {
  readonly message: Message;
  readonly finish: "stop" | "length" | "tool_calls";
}

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const content = z.union(
  [z.string(), z.array(textPart).transform((parts) => parts.map((p) => p.text).join(""))],
  {
    error: "expected a text, or parts of type text: images, sound and files are not taken",
  },
);
const toolCall = z.looseObject({
  id: z.string(),
  type: z.literal("function").optional(),
  function: z.looseObject({ name: z.string().min(1), arguments: z.string() }),
});
const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["system", "developer", "user"]), content, name: z.string().nullish() }),
  z.looseObject({
    role: z.literal("assistant"),
    content: content.nullish(),
    tool_calls: z.array(toolCall).nullish(),
    name: z.string().nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), content, tool_call_id: z.string() }),
]);
const tool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().regex(/^[^\s<>]+$/, "expected a name without blanks and angle brackets"),
    description: z.string().nullish(),
    parameters: z.json().nullish(),
  }),
});
const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
]);
const count = z.int().min(1);
const responseFormat = z.discriminatedUnion("type", [
  z.looseObject({ type: z.enum(["text", "json_object"]) }),
  z.looseObject({
    type: z.literal("json_schema"),
    json_schema: z.looseObject({ schema: z.json().nullish() }),
  }),
]);
const request = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  n: count.max(128).nullish(),
  max_tokens: count.nullish(),
  max_completion_tokens: count.nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1))]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  logprobs: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
});
type Request = z.infer<typeof request>;

export const isRefusal = (x: ChatCall | Refusal): x is Refusal => "status" in x;

/** Reads the body of a request. What no field of ours stands for is left alone, as other servers do. */
export function readRequest(body: unknown): ChatCall | Refusal {
  const read = request.safeParse(body);
  if (read.success) return callOf(read.data);
  const wrong = read.error.issues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  return {
    status: 400,
    type: "invalid_request_error",
    code: "invalid_request",
    message: `${wrong.join("; ")}. Send a chat completion request as OpenAI documents it.`,
  };
}

function callOf(asked: Request): ChatCall {
  const tools = toolsOf(asked);
  const maxTokens = asked.max_completion_tokens ?? asked.max_tokens;
  const { temperature, top_p: topP, seed, stop } = asked;
  return {
    model: asked.model,
    messages: withTools(withFormat(asked.messages.map(messageOf), asked.response_format), tools),
    tools,
    n: asked.n ?? 1,
    ...(typeof maxTokens === "number" && { maxTokens }),
    ...(typeof temperature === "number" && { temperature }),
    ...(typeof topP === "number" && { topP }),
    ...(typeof seed === "number" && { seed }),
    ...(stop && { stop: typeof stop === "string" ? [stop] : stop }),
    stream: asked.stream === true,
    includeUsage: asked.stream_options?.include_usage === true,
    logprobs: asked.logprobs === true,
    tokenIds: asked.return_token_ids === true,
    oneCall: asked.parallel_tool_calls === false,
    json: asked.response_format !== undefined && asked.response_format?.type !== "text",
  };
}

/** `required` and a named tool narrow what is offered; that one is called is up to the policy. */
function toolsOf({ tools, tool_choice: choice }: Request): Tool[] {
  if (choice === "none") return [];
  const named = typeof choice === "object" ? choice?.function.name : undefined;
  return (tools ?? [])
    .filter((t) => named === undefined || t.function.name === named)
    .map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? "",
      parameters: parameters ?? { type: "object", properties: {} },
    }));
}

function messageOf(m: z.infer<typeof message>): Message {
  switch (m.role) {
    case "tool":
      return { role: "tool", content: m.content, toolCallId: m.tool_call_id };
    case "assistant": {
      const toolCalls = (m.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
        id,
        name,
        arguments: given,
      }));
      return {
        role: "assistant",
        content: m.content ?? "",
        ...(m.name ? { name: m.name } : {}),
        ...(toolCalls.length > 0 ? { toolCalls } : {}),
      };
    }
    default:
      return {
        role: m.role === "developer" ? "system" : m.role,
        content: m.content,
        ...(m.name ? { name: m.name } : {}),
      };
  }
}

/** A schema is shown, since nothing holds the policy to it. */
function withFormat(messages: readonly Message[], format: Request["response_format"]): readonly Message[] {
  if (format?.type !== "json_schema" || !format.json_schema.schema) return messages;
  const said = `Reply with JSON alone, of this schema: ${JSON.stringify(format.json_schema.schema)}`;
  return withSystem(messages, (first) => ({
    ...first,
    content: first.content === "" ? said : `${first.content}\n\n${said}`,
  }));
}

const withTools = (messages: readonly Message[], tools: readonly Tool[]): readonly Message[] =>
  tools.length === 0 ? messages : withSystem(messages, (first) => ({ ...first, tools }));

function withSystem(messages: readonly Message[], change: (first: Message) => Message): readonly Message[] {
  const [first, ...rest] = messages;
  return first?.role === "system"
    ? [change(first), ...rest]
    : [change({ role: "system", content: "" }), ...messages];
}

/** What the client gets to see of a reply: calls apart from the text, without the stop string. @param id of each call. */
export function replyOf(call: ChatCall, made: Completion, id: (k: number) => string): Reply {
  const { text, stop, toolCalls } = made;
  const read = toolCalls
    ? { content: text, calls: toolCalls }
    : readCalls(withoutStop(text, stop, call.stop), call.tools);
  const calls = read.calls.slice(0, call.oneCall ? 1 : undefined);
  const content = call.json && calls.length === 0 ? jsonWithin(read.content) : read.content;
  return {
    message: {
      role: "assistant",
      content,
      ...(calls.length > 0 ? { toolCalls: calls.map((c, k) => ({ id: id(k), ...c })) } : {}),
    },
    finish: calls.length > 0 ? "tool_calls" : stop === "length" ? "length" : "stop",
  };
}

function withoutStop(text: string, stop: StopReason, stops: readonly string[] = []): string {
  if (stop !== "stop") return text;
  const at = stops.map((s) => text.indexOf(s)).filter((i) => i >= 0);
  return at.length === 0 ? text : text.slice(0, Math.min(...at));
}

/** The JSON in a text that has more around it; the text itself where there is none. */
function jsonWithin(text: string): string {
  const [, fenced] = /```(?:json)?\s*([\s\S]*?)```/.exec(text) ?? [];
  const [braces] = /[{[][\s\S]*[}\]]/.exec(text) ?? [];
  const candidates = [text.trim(), fenced?.trim(), braces];
  return candidates.find((c) => c !== undefined && parsed(c) !== undefined) ?? text;
}

type JsonObject = Readonly<Record<string, Json>>;

/** What stands in every answer to one request. */
export interface Envelope {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/** Replies and what they came from, as one `chat.completion`. */
export function completionBody(
  call: ChatCall,
  { id, created }: Envelope,
  made: readonly (readonly [Completion, Reply])[],
): Json {
  return {
    id,
    object: "chat.completion",
    created,
    model: call.model,
    choices: made.map(([completion, { message, finish }], index) => ({
      index,
      message: { ...spoken(message), refusal: null },
      finish_reason: finish,
      logprobs: logprobsOf(call, completion),
      ...tokenIdsOf(call, completion),
    })),
    usage: usageOf(made),
    ...promptIdsOf(call, made),
  };
}

/** The same as server-sent events: each reply begun, said, ended; then what it took, where that was asked for. */
export function eventStream(
  call: ChatCall,
  { id, created }: Envelope,
  made: readonly (readonly [Completion, Reply])[],
): string {
  const head = { id, object: "chat.completion.chunk", created, model: call.model };
  const chunks: Json[] = made.flatMap(([completion, { message, finish }], index) => {
    const chunk = (delta: Json, more: JsonObject = {}): JsonObject => ({
      ...head,
      choices: [{ index, delta, finish_reason: null, ...more }],
    });
    const said = spoken(message);
    return [
      { ...chunk({ role: "assistant", content: "" }), ...(index === 0 ? promptIdsOf(call, made) : {}) },
      chunk(
        { content: said.content },
        { logprobs: logprobsOf(call, completion), ...tokenIdsOf(call, completion) },
      ),
      ...(said.tool_calls ?? []).map((c, k) => chunk({ tool_calls: [{ index: k, ...c }] })),
      chunk({}, { finish_reason: finish }),
    ];
  });
  const usage: Json[] = call.includeUsage ? [{ ...head, choices: [], usage: usageOf(made) }] : [];
  return [...chunks, ...usage, "[DONE]"]
    .map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
    .join("");
}

/** An error as the protocol has it. */
export const refusalBody = ({ type, code, message }: Refusal): Json => ({
  error: { message, type, param: null, code },
});

/** A message of the policy as the protocol has it: no text beside calls is null. */
function spoken({ content, toolCalls = [] }: Message) {
  return {
    role: "assistant",
    content: content === "" && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
        id,
        type: "function",
        function: { name, arguments: given },
      })),
    }),
  };
}

function logprobsOf(call: ChatCall, { sampled }: Completion): Json {
  if (!call.logprobs || !sampled) return null;
  return {
    content: sampled.pieces().map((token, i) => ({
      token,
      logprob: sampled.tokens.logp[i] ?? null,
      bytes: [...new TextEncoder().encode(token)],
      top_logprobs: [],
    })),
    refusal: null,
  };
}

const tokenIdsOf = (call: ChatCall, { sampled }: Completion): JsonObject =>
  call.tokenIds && sampled ? { token_ids: [...sampled.tokens.action] } : {};

function promptIdsOf(call: ChatCall, [first]: readonly (readonly [Completion, Reply])[]): JsonObject {
  const prompt = first?.[0].sampled?.tokens.prompt;
  return call.tokenIds && prompt ? { prompt_token_ids: [...prompt] } : {};
}

function usageOf(made: readonly (readonly [Completion, Reply])[]): Json {
  const prompt = made[0]?.[0].sampled?.tokens.prompt.length ?? 0;
  const completion = made.reduce((sum, [{ sampled }]) => sum + (sampled?.tokens.action.length ?? 0), 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
