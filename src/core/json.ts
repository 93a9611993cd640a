/** Plain data. Slot state, metadata and configs consist of it, so that they can be checkpointed as they are. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
/** A JSON object: plain data by name. */
export type JsonObject = Readonly<Record<string, Json>>;

const arrays = { $float32: Float32Array, $int32: Int32Array, $uint8: Uint8Array } as const;
type Kind = keyof typeof arrays;

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $number: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (!ArrayBuffer.isView(value)) return value;
  for (const [kind, Numbers] of Object.entries(arrays)) {
    if (!(value instanceof Numbers)) continue;
    return { [kind]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
  }
  return value;
}

const isKind = (kind: string): kind is Kind => Object.hasOwn(arrays, kind);

function reviver(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const [entry, ...others] = Object.entries(value);
  if (!entry || others.length > 0) return value;
  const [kind, content]: readonly [string, unknown] = entry;
  if (typeof content !== "string") return value;
  if (kind === "$number") return Number(content);
  if (!isKind(kind)) return value;
  // a copy: the bytes of a small Buffer lie unaligned in a shared pool
  return new arrays[kind](Uint8Array.from(Buffer.from(content, "base64")).buffer);
}

/** One-line JSON that keeps values bit for bit: NaN, the infinities and -0 by name, typed arrays as base64. */
export const toExactJson = (value: unknown): string => JSON.stringify(value, replacer);

/** Reads {@link toExactJson} back. @throws SyntaxError when the text is not JSON. */
export const fromExactJson = (text: string): unknown =>
  // a reviver is called for every value: most texts hold nothing for it
  text.includes('"$') ? JSON.parse(text, reviver) : JSON.parse(text);

/** Whether the value is an object, not a list or null. */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Narrows untrusted JSON: the value where it has that type, else undefined. */
export const objectOf = (value: Json | undefined): JsonObject | undefined =>
  isObject(value) ? value : undefined;
/** The list, or an empty one. */
export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
/** The value where it is a text, else undefined. */
export const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
/** The value where it is a whole number from 0, else undefined. */
export const countOf = (value: Json | undefined): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
/** The value where it is a number, else undefined. */
export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;
