/** Parses OTLP/JSON: attributes as plain values, spans with their events. */
import { isObject, type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";

export type Attributes = Readonly<Record<string, Json>>;

export interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Span extends SpanEvent {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly end: number;
  /** Attributes of the resource and the instrumentation scope: `service.name`… */
  readonly resource: Attributes;
  readonly events: readonly SpanEvent[];
  /** The error message, if the status is an error. */
  readonly failure?: string;
}

/** The spans of an export request. */
export interface Spans {
  readonly spans: readonly Span[];
  /** Number of invalid spans, and the error of the first. */
  readonly malformed: number;
  readonly wrong?: string;
}

/** Every span of an `ExportTraceServiceRequest`. @returns undefined if the body is not one. */
export function spansOf(body: Json): Spans | undefined {
  const request = objectOf(body);
  const resources = request && (request.resourceSpans ?? request.resource_spans);
  if (!Array.isArray(resources)) return undefined;
  const spans: Span[] = [];
  let malformed = 0;
  let wrong: string | undefined;
  const refused = (where: string, why: string): void => {
    malformed++;
    wrong ??= `${where}: ${why}`;
  };
  for (const [r, inResource] of resources.entries()) {
    const { resource, scopeSpans, scope_spans } = objectOf(inResource) ?? {};
    const scopes = scopeSpans ?? scope_spans ?? [];
    const shared = attributesOf(objectOf(resource)?.attributes);
    if (!isObject(inResource) || !Array.isArray(scopes) || typeof shared === "string") {
      refused(`resourceSpans.${r}`, "expected an object with a resource and a list of scopeSpans");
      continue;
    }
    for (const [s, inScope] of scopes.entries()) {
      const own = objectOf(inScope)?.spans ?? [];
      if (!isObject(inScope) || !Array.isArray(own)) {
        refused(`resourceSpans.${r}.scopeSpans.${s}`, "expected an object with a list of spans");
        continue;
      }
      for (const [k, one] of own.entries()) {
        const span = spanOf(one, shared);
        if (typeof span === "string") refused(`resourceSpans.${r}.scopeSpans.${s}.spans.${k}`, span);
        else spans.push(span);
      }
    }
  }
  return { spans, malformed, ...(wrong === undefined ? {} : { wrong }) };
}

/** @returns the error if it is invalid. */
function spanOf(value: Json, resource: Attributes): Span | string {
  const span = objectOf(value);
  if (!span) return "expected an object";
  const traceId = textOf(span.traceId ?? span.trace_id);
  const spanId = textOf(span.spanId ?? span.span_id);
  if (!isId(traceId) || !isId(spanId))
    return `expected a traceId and a spanId, texts of up to ${longestId} characters`;
  const parentSpanId = textOf(span.parentSpanId ?? span.parent_span_id);
  const status = objectOf(span.status);
  const failed = status?.code === 2 || status?.code === "STATUS_CODE_ERROR";
  const at = milliseconds(span.startTimeUnixNano ?? span.start_time_unix_nano);
  const end = milliseconds(span.endTimeUnixNano ?? span.end_time_unix_nano);
  if (at === undefined || end === undefined) {
    return "expected startTimeUnixNano and endTimeUnixNano, whole numbers of nanoseconds";
  }
  const attributes = attributesOf(span.attributes);
  if (typeof attributes === "string") return attributes;
  const events = eventsOf(span.events ?? []);
  if (typeof events === "string") return events;
  return {
    traceId,
    spanId,
    ...(parentSpanId ? { parentSpanId } : {}),
    name: textOf(span.name) ?? "",
    attributes,
    at,
    end: Math.max(at, end),
    resource,
    events,
    ...(failed ? { failure: textOf(status?.message) ?? "failed" } : {}),
  };
}

function eventsOf(value: Json): readonly SpanEvent[] | string {
  if (!Array.isArray(value)) return "events: expected a list";
  const events: SpanEvent[] = [];
  for (const [k, event] of value.entries()) {
    const { name, attributes: stated, timeUnixNano, time_unix_nano } = objectOf(event) ?? {};
    const at = milliseconds(timeUnixNano ?? time_unix_nano ?? 0);
    const attributes = attributesOf(stated);
    if (!isObject(event) || at === undefined) return `events.${k}: expected an object with its timeUnixNano`;
    if (typeof attributes === "string") return `events.${k}.${attributes}`;
    events.push({ name: textOf(name) ?? "", attributes, at });
  }
  return events;
}

/** Limit of id lengths, from database indexes. */
const longestId = 200;
const isId = (id: string | undefined): id is string =>
  id !== undefined && id !== "" && id.length <= longestId;

/** Nanoseconds exceed the exact range of a number: they come as text, and sometimes as a number. */
function milliseconds(nanoseconds: Json | undefined): number | undefined {
  const text = typeof nanoseconds === "number" ? nanoseconds.toFixed(0) : (textOf(nanoseconds) ?? "");
  return /^\d{1,20}$/.test(text) ? Number(BigInt(text) / 1_000_000n) : undefined;
}

/** @returns the error if they are invalid. */
export function attributesOf(value: Json | undefined): Attributes | string {
  if (value === undefined || value === null) return {};
  if (!Array.isArray(value)) return "attributes: expected a list";
  const entries: [string, Json][] = [];
  for (const [k, entry] of value.entries()) {
    const { key, value: held } = objectOf(entry) ?? {};
    if (typeof key !== "string") return `attributes.${k}: expected an object with a key and a value`;
    entries.push([key, plainOf(held)]);
  }
  return Object.fromEntries(entries);
}

/** An `AnyValue`. Integers come as text, since they may have 64 bits. Numbers that are not finite become null. */
function plainOf(held: Json | undefined): Json {
  const any = objectOf(held) ?? {};
  const number = any.intValue === undefined ? numberOf(any.doubleValue) : Number(any.intValue);
  if (number !== undefined) return Number.isFinite(number) ? number : null;
  if (any.arrayValue !== undefined) return listOf(objectOf(any.arrayValue)?.values).map(plainOf);
  if (any.kvlistValue !== undefined) {
    const values = attributesOf(objectOf(any.kvlistValue)?.values);
    return typeof values === "string" ? null : values;
  }
  return textOf(any.stringValue) ?? any.boolValue ?? null;
}
