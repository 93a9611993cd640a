/** OpenTelemetry's spans of model calls as served responses, and its evaluations as signals. */
import { type Json, numberOf, textOf } from "../../core/json.ts";
import type { ReceivedSignal, Target } from "../../core/served.ts";
import type { Draft } from "../import/entry.ts";
import { type Attributes, type Span, type SpanEvent, spansOf } from "./attributes.ts";
import { saidIn } from "./conversation.ts";

/** What a request of an exporter brought. */
export interface ReadSpans {
  /** In the order of time; those without content have neither prompt nor choices, and can carry feedback only. */
  readonly responses: readonly Draft[];
  readonly signals: readonly ReceivedSignal[];
  /** Spans that are no model calls, such as those of tools and agents. */
  readonly others: number;
  /** Those that are no spans, and what is wrong with the first of them. */
  readonly malformed: number;
  readonly wrong?: string;
}

/**
 * Reads OTLP/HTTP's JSON, an `ExportTraceServiceRequest`, by the semantic conventions of generative AI.
 *
 * A call's session is `gen_ai.conversation.id`, else `session.id`, else its trace; its id is `gen_ai.response.id`, by which
 * feedback names it, else trace and span. An evaluation (`gen_ai.evaluation.result`, an event, or attributes of a span of
 * its own) is about the response that it names, else the span that it is on or under, else the session: a score where it
 * has a value, a reaction where it has only a label, with its explanation as text.
 * @param received in milliseconds since 1970. @returns nothing where it is no such request.
 */
export function readSpans(body: Json, received: number): ReadSpans | undefined {
  const read = spansOf(body);
  if (!read) return undefined;
  const { spans, ...refused } = read;
  const calls = spans.filter(isCall);
  const ids = new Map(calls.map((span) => [`${span.traceId}/${span.spanId}`, idOf(span)]));
  const about = (span: Span, named: string | undefined): Target => {
    const on = ids.get(`${span.traceId}/${span.spanId}`) ?? ids.get(`${span.traceId}/${span.parentSpanId}`);
    const response = named ?? on;
    return response === undefined ? { session: sessionOf(span) } : { response };
  };
  const signals = spans.flatMap((span) => {
    const events = span.events.filter(({ name }) => name === "gen_ai.evaluation.result");
    const own = span.attributes["gen_ai.evaluation.name"] === undefined ? [] : [span];
    return [...events, ...own].flatMap((event, i): ReceivedSignal[] => {
      const named = textOf(event.attributes["gen_ai.response.id"]);
      const id = `otlp:${span.traceId}/${span.spanId}/${i}`;
      return evaluationOf(
        event,
        id,
        about(span, event === span && isCall(span) ? undefined : named),
        received,
      );
    });
  });
  const evaluations = spans.filter((s) => s.attributes["gen_ai.evaluation.name"] !== undefined && !isCall(s));
  return {
    responses: calls.map(responseOf).sort((a, b) => a.at - b.at),
    signals,
    others: spans.length - calls.length - evaluations.length,
    ...refused,
  };
}

const operations: ReadonlySet<Json | undefined> = new Set(["chat", "generate_content", "text_completion"]);

/** Whether a span is one call of a model. The AI SDK's outer spans, which sum up several, are not. */
function isCall({ attributes }: Span): boolean {
  const operation = attributes["gen_ai.operation.name"];
  if (operation !== undefined) return operations.has(operation);
  const sdk = textOf(attributes["ai.operationId"]);
  if (sdk !== undefined) return /\.do(Generate|Stream)$/.test(sdk);
  return attributes["gen_ai.request.model"] !== undefined && attributes["gen_ai.tool.name"] === undefined;
}

const sessionOf = ({ attributes, traceId }: Span): string =>
  textOf(attributes["gen_ai.conversation.id"]) ?? textOf(attributes["session.id"]) ?? traceId;

const idOf = ({ attributes, traceId, spanId }: Span): string =>
  textOf(attributes["gen_ai.response.id"]) ?? `${traceId}/${spanId}`;

function responseOf(span: Span): Draft {
  const { attributes, resource, at, end, failure } = span;
  const said = saidIn(span) ?? { prompt: [], choices: [] };
  const user = textOf(attributes["enduser.id"] ?? attributes["user.id"]);
  const [input, output] = ["input", "output"].map((side) =>
    numberOf(attributes[`gen_ai.usage.${side}_tokens`]),
  );
  const error = failure ?? textOf(attributes["error.type"]);
  const service = textOf(resource["service.name"]);
  return {
    id: idOf(span),
    session: sessionOf(span),
    ...(user === undefined ? {} : { user }),
    at,
    ms: end - at,
    model: textOf(attributes["gen_ai.request.model"]) ?? textOf(attributes["gen_ai.response.model"]) ?? "",
    settings: settingsIn(attributes),
    prompt: said.prompt,
    choices: error === undefined ? said.choices : [],
    status: error === undefined ? "complete" : "failed",
    ...(error === undefined ? {} : { error }),
    ...(input === undefined || output === undefined ? {} : { usage: { input, output } }),
    tags: {
      "otlp.span": `${span.traceId}/${span.spanId}`,
      ...(service === undefined ? {} : { "service.name": service }),
    },
  };
}

/** What was asked for beside words: `gen_ai.request.temperature`… by their last names. */
const settingsIn = (attributes: Attributes): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => {
      const setting = /^gen_ai\.request\.(?!model$)(.+)$/.exec(name)?.[1];
      return setting === undefined ? [] : [[setting, value]];
    }),
  );

function evaluationOf(
  { attributes, at }: SpanEvent,
  id: string,
  about: Target,
  received: number,
): ReceivedSignal[] {
  const channel = textOf(attributes["gen_ai.evaluation.name"]);
  const value = numberOf(attributes["gen_ai.evaluation.score.value"]);
  const label = textOf(attributes["gen_ai.evaluation.score.label"]);
  const text = textOf(attributes["gen_ai.evaluation.explanation"]);
  // an evaluation that failed is silence
  if (channel === undefined || attributes["error.type"] !== undefined) return [];
  const base = {
    id,
    key: id,
    channel,
    about: [about],
    source: `otlp:${channel}`,
    at: at === 0 ? received : at,
    received,
    tags: label === undefined ? {} : { label },
  };
  if (value !== undefined)
    return [{ ...base, kind: "score", value, ...(text === undefined ? {} : { text }) }];
  if (label !== undefined) return [{ ...base, kind: "reaction", text: label }];
  return text === undefined ? [] : [{ ...base, kind: "critique", text }];
}
