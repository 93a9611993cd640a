/** Chat-completion requests of OpenAI's protocol, read into our words. */
import { z } from "zod";
import { withSystem, withTools } from "../../common/text/systemMessage.ts";
import type { Message, Tool } from "../../core/types.ts";

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

/** A request that gets no reply, in the protocol's own terms. */
export interface Refusal {
  readonly status: 400 | 401 | 404 | 410 | 413 | 415 | 429 | 500;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  /** Seconds after which the same request may get a reply. Default: it gets none. */
  readonly retryAfter?: number;
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
/** Every token of a reply is searched for all of them. */
const [mostStops, longestStop] = [64, 256];
const stopText = z.string().min(1).max(longestStop);
const stops = z.union([stopText, z.array(stopText).max(mostStops)], {
  error: `expected a text of 1 to ${longestStop} characters, or at most ${mostStops} of them`,
});
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
  stop: stops.nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  logprobs: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
});
type Request = z.infer<typeof request>;

export const isRefusal = (x: ChatCall | Refusal): x is Refusal => "status" in x;

/** What is wrong in so many places is said; the rest is counted. */
const mostIssues = 10;

/** Reads the body of a request. What no field of ours stands for is left alone, as other servers do. */
export function readRequest(body: unknown): ChatCall | Refusal {
  const read = request.safeParse(body);
  if (read.success) return callOf(read.data);
  const { issues } = read.error;
  const wrong = issues
    .slice(0, mostIssues)
    .map(({ path, message }) => `${path.join(".") || "body"}: ${message}`);
  const more = issues.length > mostIssues ? `; and ${issues.length - mostIssues} more` : "";
  return {
    status: 400,
    type: "invalid_request_error",
    code: "invalid_request",
    message: `${wrong.join("; ")}${more}. Send a chat completion request as OpenAI documents it.`,
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
