/** Converts OpenTelemetry spans of model calls into served responses, and evaluations into signals. */
import { type Json, numberOf, textOf } from "../../core/json.ts";
import type { ReceivedSignal, Target } from "../../core/served.ts";
import type { Draft } from "../import/entry.ts";
import { type Attributes, type Span, type SpanEvent, spansOf } from "./attributes.ts";
import { repliesIn } from "./conversation.ts";

/** The contents of an export request. */
export interface ReadSpans {
  /** In order of time. Those without content have no prompt and no choices, and only serve as targets of feedback. */
  readonly responses: readonly Draft[];
  readonly signals: readonly ReceivedSignal[];
  /** Number of spans that are not model calls, such as those of tools and agents. */
  readonly others: number;
  /** Number of invalid spans, and the error of the first. */
  readonly malformed: number;
  readonly wrong?: string;
}

/**
 * Reads OTLP/HTTP's JSON, an `ExportTraceServiceRequest`, by the semantic conventions of generative AI.
 *
 * A call's session is `gen_ai.conversation.id`, else `session.id`, else its trace. Its id is `gen_ai.response.id`, which
 * feedback refers to, else trace and span. An evaluation (`gen_ai.evaluation.result`, an event, or attributes of a separate
 * span) is about the response that it names, else the span that it is on or under, else the session. It is a score if it
 * has a value, a reaction if it only has a label, with its explanation as text.
 * @param received in milliseconds since 1970. @returns undefined if the body is not such a request.
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

/** Whether a span is a single model call. The AI SDK's outer spans, which summarise several, are not. */
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
  const said = repliesIn(span) ?? { prompt: [], choices: [] };
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

/** Request parameters, such as `gen_ai.request.temperature`, by the last part of their names. */
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
  // a failed evaluation is missing feedback
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
