/** OTLP's JSON, as far as it is needed: attributes as plain values, spans with their events. */
import { type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";

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
  /** Of the resource and the instrumentation: `service.name`… */
  readonly resource: Attributes;
  readonly events: readonly SpanEvent[];
  /** What went wrong, where its status says so. */
  readonly failure?: string;
}

/** Every span of an `ExportTraceServiceRequest`. A span without ids is left out. @returns nothing where it is no such request. */
export function spansOf(body: Json): readonly Span[] | undefined {
  const request = objectOf(body);
  const resources = request && (request.resourceSpans ?? request.resource_spans);
  if (!Array.isArray(resources)) return undefined;
  return resources.flatMap((inResource: Json) => {
    const { resource, scopeSpans, scope_spans } = objectOf(inResource) ?? {};
    const shared = attributesOf(objectOf(resource)?.attributes);
    return listOf(scopeSpans ?? scope_spans).flatMap((inScope) =>
      listOf(objectOf(inScope)?.spans).flatMap((span) => spanOf(span, shared) ?? []),
    );
  });
}

function spanOf(value: Json, resource: Attributes): Span | undefined {
  const span = objectOf(value) ?? {};
  const traceId = textOf(span.traceId ?? span.trace_id);
  const spanId = textOf(span.spanId ?? span.span_id);
  if (!traceId || !spanId) return undefined;
  const parentSpanId = textOf(span.parentSpanId ?? span.parent_span_id);
  const status = objectOf(span.status);
  const failed = status?.code === 2 || status?.code === "STATUS_CODE_ERROR";
  const at = milliseconds(span.startTimeUnixNano ?? span.start_time_unix_nano);
  return {
    traceId,
    spanId,
    ...(parentSpanId ? { parentSpanId } : {}),
    name: textOf(span.name) ?? "",
    attributes: attributesOf(span.attributes),
    at,
    end: Math.max(at, milliseconds(span.endTimeUnixNano ?? span.end_time_unix_nano)),
    resource,
    events: listOf(span.events).map((event) => {
      const { name, attributes, timeUnixNano, time_unix_nano } = objectOf(event) ?? {};
      return {
        name: textOf(name) ?? "",
        attributes: attributesOf(attributes),
        at: milliseconds(timeUnixNano ?? time_unix_nano),
      };
    }),
    ...(failed ? { failure: textOf(status?.message) ?? "failed" } : {}),
  };
}

/** Nanoseconds are more than a number holds exactly: they come as text, and sometimes as a number. */
function milliseconds(nanoseconds: Json | undefined): number {
  const text = typeof nanoseconds === "number" ? nanoseconds.toFixed(0) : (textOf(nanoseconds) ?? "");
  return /^\d+$/.test(text) ? Number(BigInt(text) / 1_000_000n) : 0;
}

export const attributesOf = (value: Json | undefined): Attributes =>
  Object.fromEntries(
    listOf(value).flatMap((entry) => {
      const { key, value: held } = objectOf(entry) ?? {};
      return typeof key === "string" ? [[key, plainOf(held)]] : [];
    }),
  );

/** An `AnyValue`. Whole numbers come as text, since they may have 64 bits. What is no finite number is nothing. */
function plainOf(held: Json | undefined): Json {
  const any = objectOf(held) ?? {};
  const number = any.intValue === undefined ? numberOf(any.doubleValue) : Number(any.intValue);
  if (number !== undefined) return Number.isFinite(number) ? number : null;
  if (any.arrayValue !== undefined) return listOf(objectOf(any.arrayValue)?.values).map(plainOf);
  if (any.kvlistValue !== undefined) return attributesOf(objectOf(any.kvlistValue)?.values);
  return textOf(any.stringValue) ?? any.boolValue ?? null;
}
