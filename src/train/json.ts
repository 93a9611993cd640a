/** JSON that keeps what a run is made of bit for bit: typed arrays as base64, and NaN, the infinities and -0 by name. */

const arrays = { f: Float32Array, i: Int32Array, b: Uint8Array } as const;
type Kind = keyof typeof arrays;

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $: "n", is: Object.is(value, -0) ? "-0" : String(value) };
  }
  for (const [kind, Numbers] of Object.entries(arrays)) {
    if (!(value instanceof Numbers)) continue;
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
    return { $: kind, bytes };
  }
  return value;
}

const isKind = (kind: unknown): kind is Kind => typeof kind === "string" && Object.hasOwn(arrays, kind);

function reviver(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("$" in value)) return value;
  if (value.$ === "n" && "is" in value) return Number(value.is);
  if (!isKind(value.$) || !("bytes" in value)) return value;
  // a copy: the bytes of a small Buffer lie unaligned in a shared pool
  const bytes = Uint8Array.from(Buffer.from(String(value.bytes), "base64"));
  return new arrays[value.$](bytes.buffer);
}

/** One line. */
export const toExactJson = (value: unknown): string => JSON.stringify(value, replacer);

/** @throws SyntaxError when the text is no JSON. */
export const fromExactJson = (text: string): unknown => JSON.parse(text, reviver);
