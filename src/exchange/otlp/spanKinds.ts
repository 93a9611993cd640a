/** What a span is, whose it is, and what it names, in the words of each convention. */
import { countOf, type Json, objectOf, textOf } from "../../core/json.ts";
import type { Attributes, Span } from "./attributes.ts";
import { jsonOrText } from "./attributeText.ts";
import { answerId, nested } from "./openinference.ts";

/** "call": a single call of a model. The spans of agents, steps and workflows, which summarise several, are "other". */
export type SpanKind = "call" | "tool" | "retrieval" | "other";

const operations: ReadonlyMap<string, SpanKind> = new Map([
  ["chat", "call"],
  ["generate_content", "call"],
  ["text_completion", "call"],
  ["execute_tool", "tool"],
  ["retrieval", "retrieval"],
]);
const openInference: ReadonlyMap<string, SpanKind> = new Map([
  ["LLM", "call"],
  ["TOOL", "tool"],
  ["RETRIEVER", "retrieval"],
  ["RERANKER", "retrieval"],
]);
/** `llm.request.type` of OpenLLMetry; embeddings name a model as well. */
const requests: ReadonlySet<string> = new Set(["chat", "completion"]);

/** By the first convention that names what the span is: GenAI, OpenInference, the AI SDK's own, OpenLLMetry. */
export function kindOf({ attributes }: Span): SpanKind {
  const of = (name: string): string | undefined => textOf(attributes[name]);
  const operation = of("gen_ai.operation.name");
  if (operation !== undefined) return operations.get(operation) ?? "other";
  const kind = of("openinference.span.kind");
  if (kind !== undefined) return openInference.get(kind.toUpperCase()) ?? "other";
  const sdk = of("ai.operationId");
  if (sdk !== undefined)
    return /\.do(Generate|Stream)$/.test(sdk) ? "call" : sdk === "ai.toolCall" ? "tool" : "other";
  const entity = of("traceloop.span.kind");
  if (entity !== undefined) return entity === "tool" ? "tool" : "other";
  const request = of("llm.request.type");
  if (request !== undefined) return requests.has(request) ? "call" : "other";
  if (attributes["gen_ai.tool.name"] !== undefined) return "tool";
  return attributes["gen_ai.request.model"] !== undefined ? "call" : "other";
}

/** The first of the attributes that is a text. */
const firstText = (attributes: Attributes, names: readonly string[]): string | undefined =>
  names.map((name) => textOf(attributes[name])).find((text) => text !== undefined && text !== "");

const association = "traceloop.association.properties";
const sessionNames = [
  "gen_ai.conversation.id",
  "session.id",
  "ai.telemetry.metadata.sessionId",
  "ai.settings.context.sessionId",
  "langfuse.session.id",
  ...["session_id", "conversation_id", "chat_id", "thread_id"].map((name) => `${association}.${name}`),
];
const userNames = [
  "enduser.id",
  "user.id",
  "ai.telemetry.metadata.userId",
  "ai.settings.context.userId",
  "langfuse.user.id",
  `${association}.user_id`,
];

/** Whose spans are: the session and user that a span states, else its nearest ancestor, else any other span of its trace. */
export function whose(
  spans: readonly Span[],
): (span: Span) => { readonly session: string; readonly user?: string } {
  const byId = new Map(spans.map((span) => [`${span.traceId}/${span.spanId}`, span]));
  const stated = (names: readonly string[]): ((span: Span) => string | undefined) => {
    const inTrace = new Map<string, string>();
    for (const { traceId, attributes } of spans) {
      const text = firstText(attributes, names);
      if (text !== undefined && !inTrace.has(traceId)) inTrace.set(traceId, text);
    }
    const nearest = new Map<Span, string | undefined>();
    return (span) => {
      // each span is looked at once, however many lie below it; a chain of parents that closes on itself is no tree, and ends
      const path = new Set<Span>();
      let at: Span | undefined = span;
      let text: string | undefined;
      while (at && text === undefined && !path.has(at)) {
        path.add(at);
        const isKnown = nearest.has(at);
        text = isKnown ? nearest.get(at) : firstText(at.attributes, names);
        at = isKnown ? undefined : byId.get(`${at.traceId}/${at.parentSpanId}`);
      }
      for (const below of path) nearest.set(below, text);
      return text ?? inTrace.get(span.traceId);
    };
  };
  const [sessions, users] = [stated(sessionNames), stated(userNames)];
  return (span) => {
    const user = users(span);
    return { session: sessions(span) ?? span.traceId, ...(user === undefined ? {} : { user }) };
  };
}

/** The id by which feedback names the response. */
export const idOf = ({ attributes, traceId, spanId }: Span): string =>
  firstText(attributes, ["gen_ai.response.id", "ai.response.id"]) ??
  answerId(attributes) ??
  `${traceId}/${spanId}`;

export const modelOf = (attributes: Attributes): string =>
  firstText(attributes, ["gen_ai.request.model", "llm.model_name", "ai.model.id", "gen_ai.response.model"]) ??
  "";

/** Tokens read and written, where both are stated. */
export function usageOf(
  attributes: Attributes,
): { readonly input: number; readonly output: number } | undefined {
  const of = (...names: readonly string[]): number | undefined =>
    names.map((name) => countOf(attributes[name])).find((n) => n !== undefined);
  const input = of("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt");
  const output = of(
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
  );
  return input === undefined || output === undefined ? undefined : { input, output };
}

/** Request parameters: `gen_ai.request.temperature` by the last part of its name, or OpenInference's JSON of all of them. */
export function settingsOf(attributes: Attributes): Readonly<Record<string, Json>> {
  const whole = attributes["llm.invocation_parameters"];
  const given = typeof whole === "string" ? objectOf(jsonOrText(whole)) : undefined;
  const { model: _, messages: __, input: ___, tools: ____, ...parameters } = given ?? {};
  const named = Object.entries(attributes).flatMap(([name, value]) => {
    const setting = /^gen_ai\.request\.(?!model$)(.+)$/.exec(name)?.[1];
    return setting === undefined ? [] : [[setting, value] as const];
  });
  return { ...parameters, ...Object.fromEntries(named) };
}

/** The name of a tool or a retriever. */
export const toolOf = ({ attributes, name }: Span): string =>
  firstText(attributes, ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"]) ??
  (name === "" ? "unnamed" : name);

const inputs = ["gen_ai.tool.call.arguments", "input.value", "traceloop.entity.input", "ai.toolCall.args"];
const outputs = ["gen_ai.tool.call.result", "output.value", "traceloop.entity.output", "ai.toolCall.result"];

/** What a tool or a retriever was given, and what it gave: text as it is, structured values and documents as JSON. */
export function contentsOf(
  attributes: Attributes,
): readonly [input: string | undefined, output: string | undefined] {
  const of = (names: readonly string[]): string | undefined => {
    const value = names.map((name) => attributes[name]).find((held) => held !== undefined && held !== null);
    return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
  };
  const documents =
    nested(attributes, "retrieval.documents") ?? nested(attributes, "reranker.output_documents");
  return [of(inputs), of(outputs) ?? (documents === undefined ? undefined : JSON.stringify(documents))];
}
