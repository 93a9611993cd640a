/** OTLP as protobuf: requests become what the same request is in JSON, and answers are written. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Json, JsonObject } from "../../core/json.ts";

/** How a field is read; a list of fields is a nested message. */
type Kind = "text" | "hex" | "time" | "int" | "double" | "bool" | Fields;
interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly many?: true;
}
/** By number. */
type Fields = () => Readonly<Record<number, Field>>;

const one = (name: string, kind: Kind): Field => ({ name, kind });
const many = (name: string, kind: Kind): Field => ({ name, kind, many: true });

// opentelemetry-proto 1: common, resource and trace. Fields that nothing reads are left out, and skipped.
const anyValue: Fields = () => ({
  1: one("stringValue", "text"),
  2: one("boolValue", "bool"),
  3: one("intValue", "int"),
  4: one("doubleValue", "double"),
  5: one("arrayValue", () => ({ 1: many("values", anyValue) })),
  6: one("kvlistValue", () => ({ 1: many("values", keyValue) })),
});
const keyValue: Fields = () => ({ 1: one("key", "text"), 2: one("value", anyValue) });
const event: Fields = () => ({
  1: one("timeUnixNano", "time"),
  2: one("name", "text"),
  3: many("attributes", keyValue),
});
const status: Fields = () => ({ 2: one("message", "text"), 3: one("code", "int") });
const span: Fields = () => ({
  1: one("traceId", "hex"),
  2: one("spanId", "hex"),
  4: one("parentSpanId", "hex"),
  5: one("name", "text"),
  7: one("startTimeUnixNano", "time"),
  8: one("endTimeUnixNano", "time"),
  9: many("attributes", keyValue),
  11: many("events", event),
  15: one("status", status),
});
const resource: Fields = () => ({ 1: many("attributes", keyValue) });
const scopeSpans: Fields = () => ({ 2: many("spans", span) });
const resourceSpans: Fields = () => ({ 1: one("resource", resource), 2: many("scopeSpans", scopeSpans) });
const request: Fields = () => ({ 1: many("resourceSpans", resourceSpans) });

/** What a body may hold at most, as for JSON. */
interface Limits {
  readonly depth: number;
  readonly values: number;
}

/**
 * An `ExportTraceServiceRequest` in the shape that it has as JSON: ids in hexadecimal digits, times as digits.
 * @returns undefined if the bytes are none, "beyond" if they hold more than the limits allow.
 */
export function requestFrom(bytes: Uint8Array, limits: Limits): JsonObject | "beyond" | undefined {
  const reader = new BinaryReader(bytes);
  let left = limits.values;
  const message = (fields: Fields, end: number, depth: number): JsonObject => {
    if (depth > limits.depth) throw beyond;
    const known = fields();
    const held: Record<string, Json> = {};
    while (reader.pos < end) {
      if (left-- <= 0) throw beyond;
      const [number, wire] = reader.tag();
      const field = known[number];
      if (!field || wire !== wireOf(field.kind)) {
        reader.skip(wire, number);
        continue;
      }
      const value = valueAs(field.kind, depth);
      if (!field.many) held[field.name] = value;
      else (held[field.name] ??= [] as Json[]) && (held[field.name] as Json[]).push(value);
    }
    if (reader.pos > end) throw new RangeError("a message that ends within a field");
    return held;
  };
  const valueAs = (kind: Kind, depth: number): Json => {
    switch (kind) {
      case "text":
        return reader.string();
      case "hex":
        return Buffer.from(reader.bytes()).toString("hex");
      case "time":
        return String(reader.fixed64());
      case "int":
        return Number(reader.int64());
      case "double":
        return reader.double();
      case "bool":
        return reader.bool();
      default: {
        const length = reader.uint32();
        if (reader.pos + length > bytes.length) throw new RangeError("a message longer than the body");
        return message(kind, reader.pos + length, depth + 1);
      }
    }
  };
  try {
    return message(request, bytes.length, 0);
  } catch (e) {
    return e === beyond ? "beyond" : undefined;
  }
}

const beyond = Symbol("beyond the limits");

/** How a value of that kind stands on the wire; one that stands otherwise is skipped. */
function wireOf(kind: Kind): WireType {
  if (kind === "time" || kind === "double") return WireType.Bit64;
  return kind === "int" || kind === "bool" ? WireType.Varint : WireType.LengthDelimited;
}

/** An `ExportTraceServiceResponse`: how many spans were left out, and why; nothing if none was. */
export function answerBytes(rejected: number, why: string): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  if (rejected > 0) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(why);
    writer.join();
  }
  return new Uint8Array(writer.finish());
}

/** A `google.rpc.Status`, as which OTLP wants refusals: its message alone. */
export const refusalBytes = (message: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new BinaryWriter().tag(2, WireType.LengthDelimited).string(message).finish());
