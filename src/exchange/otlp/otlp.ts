/** Converts OpenTelemetry spans of model calls into served responses, and evaluations into signals. */
import { type Json, numberOf, textOf } from "../../core/json.ts";
import type { ReceivedSignal, Target, TracedCall } from "../../core/served.ts";
import type { Draft } from "../import/entry.ts";
import { type Span, type SpanEvent, spansOf } from "./attributes.ts";
import { repliesIn } from "./conversation.ts";
import { contentsOf, idOf, kindOf, modelOf, settingsOf, toolOf, usageOf, whose } from "./spanKinds.ts";

/** The contents of an export request. */
export interface ReadSpans {
  /** In order of time. Those without content have no prompt and no choices, and only serve as targets of feedback. */
  readonly responses: readonly Draft[];
  readonly signals: readonly ReceivedSignal[];
  /** Calls of tools and retrievals. */
  readonly traced: readonly TracedCall[];
  /** Number of spans that are nothing of that, such as those of agents and steps, which summarise others. */
  readonly others: number;
  /** Number of invalid spans, and the error of the first. */
  readonly malformed: number;
  readonly wrong?: string;
}

/**
 * Reads OTLP/HTTP's JSON, an `ExportTraceServiceRequest`, by the semantic conventions of generative AI, OpenInference's,
 * OpenLLMetry's, and those of the AI SDK.
 *
 * A call's session and user are those that it states, else its ancestors, else other spans of its trace; without any, the
 * session is the trace. Its id is that of the model's answer, which feedback refers to, else trace and span. An evaluation (`gen_ai.evaluation.result`, an event, or attributes of a separate
 * span) is about the response that it names, else the span that it is on or under, else the session. It is a score if it
 * has a value, a reaction if it only has a label, with its explanation as text.
 * @param received in milliseconds since 1970. @returns undefined if the body is not such a request.
 */
export function readSpans(body: Json, received: number): ReadSpans | undefined {
  const read = spansOf(body);
  if (!read) return undefined;
  const { spans, ...refused } = read;
  const of = whose(spans);
  const kinds = new Map(spans.map((span) => [span, kindOf(span)]));
  const isCall = (span: Span): boolean => kinds.get(span) === "call";
  const calls = spans.filter(isCall);
  const ids = new Map(calls.map((span) => [`${span.traceId}/${span.spanId}`, idOf(span)]));
  const about = (span: Span, named: string | undefined): Target => {
    const on = ids.get(`${span.traceId}/${span.spanId}`) ?? ids.get(`${span.traceId}/${span.parentSpanId}`);
    const response = named ?? on;
    return response === undefined ? { session: of(span).session } : { response };
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
  const evaluations = spans.filter(
    (s) => s.attributes["gen_ai.evaluation.name"] !== undefined && kinds.get(s) === "other",
  );
  const traced = spans.flatMap((span) => {
    const kind = kinds.get(span);
    return kind === "tool" || kind === "retrieval" ? [tracedOf(span, kind, of(span))] : [];
  });
  return {
    traced,
    responses: calls.map((span) => responseOf(span, of(span))).sort((a, b) => a.at - b.at),
    signals,
    others: spans.length - calls.length - traced.length - evaluations.length,
    ...refused,
  };
}

function responseOf(span: Span, of: { readonly session: string; readonly user?: string }): Draft {
  const { attributes, resource, at, end, failure } = span;
  const said = repliesIn(span) ?? { prompt: [], choices: [] };
  const usage = usageOf(attributes);
  const error = failure ?? textOf(attributes["error.type"]);
  const service = textOf(resource["service.name"]);
  return {
    id: idOf(span),
    ...of,
    at,
    ms: end - at,
    model: modelOf(attributes),
    settings: settingsOf(attributes),
    prompt: said.prompt,
    choices: error === undefined ? said.choices : [],
    status: error === undefined ? "complete" : "failed",
    ...(error === undefined ? {} : { error }),
    ...(usage && { usage }),
    tags: {
      "otlp.span": `${span.traceId}/${span.spanId}`,
      ...(service === undefined ? {} : { "service.name": service }),
    },
  };
}

function tracedOf(
  span: Span,
  kind: TracedCall["kind"],
  of: { readonly session: string; readonly user?: string },
): TracedCall {
  const { attributes, at, end, failure } = span;
  const error = failure ?? textOf(attributes["error.type"]);
  const [input, output] = contentsOf(attributes);
  const call = textOf(attributes["gen_ai.tool.call.id"]) ?? textOf(attributes["ai.toolCall.id"]);
  return {
    id: `otlp:${span.traceId}/${span.spanId}`,
    ...of,
    kind,
    name: toolOf(span),
    at,
    ms: end - at,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    tags: {
      "otlp.span": `${span.traceId}/${span.spanId}`,
      ...(call === undefined ? {} : { "tool.call": call }),
    },
  };
}

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
