/** The safetensors format: 8 bytes of header length, a JSON header, raw little-endian values. float32 only so far. */
import { z } from "zod";
import { WhetstoneError } from "../../core/errors.ts";

export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

const entry = z.object({
  dtype: z.string(),
  shape: z.array(z.int().nonnegative()),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const header = z.record(z.string(), z.union([entry, z.record(z.string(), z.string())]));

export function writeSafetensors(tensors: readonly NamedTensor[]): Uint8Array {
  let at = 0;
  const fields: [string, unknown][] = [["__metadata__", { format: "pt" }]];
  for (const { name, shape, data } of tensors) {
    fields.push([name, { dtype: "F32", shape, data_offsets: [at, at + data.byteLength] }]);
    at += data.byteLength;
  }
  const json = JSON.stringify(Object.fromEntries(fields));
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8));
  const out = new Uint8Array(8 + text.length + at);
  new DataView(out.buffer).setBigUint64(0, BigInt(text.length), true);
  out.set(text, 8);
  let to = 8 + text.length;
  for (const { data } of tensors) {
    out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), to);
    to += data.byteLength;
  }
  return out;
}

function damaged(where: string, got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where,
    got,
    expected: "a whole safetensors file of float32 tensors",
    mend: "Use an earlier checkpoint, or copy the file again.",
  });
}

/** @param where the file's name, for errors. @throws WhetstoneError `checkpoint.damaged`. */
export function readSafetensors(bytes: Uint8Array, where: string): Map<string, NamedTensor> {
  if (bytes.length < 8) throw damaged(where, `${bytes.length} bytes`);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (8 + length > bytes.length)
    throw damaged(where, `a header of ${length} bytes in a file of ${bytes.length}`);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  } catch {
    throw damaged(where, "a header that is not JSON");
  }
  const parsed = header.safeParse(json);
  if (!parsed.success) throw damaged(where, "a header of another form");
  const out = new Map<string, NamedTensor>();
  let end = 0;
  for (const [name, field] of Object.entries(parsed.data)) {
    const tensor = entry.safeParse(field);
    if (!tensor.success) continue; // metadata
    const { dtype, shape, data_offsets } = tensor.data;
    const [from, to] = data_offsets;
    const size = shape.reduce((a, b) => a * b, 1);
    if (dtype !== "F32") throw damaged(where, `${name} of type ${dtype}`);
    if (to - from !== 4 * size || 8 + length + to > bytes.length) {
      throw damaged(where, `a file of ${bytes.length} bytes, too short for ${name}`);
    }
    end = Math.max(end, to);
    const start = bytes.byteOffset + 8 + length + from;
    out.set(name, { name, shape, data: new Float32Array(bytes.buffer.slice(start, start + (to - from))) });
  }
  // a header length that lost a bit would shift every value and still leave a header that parses
  if (8 + length + end !== bytes.length) {
    throw damaged(where, `${bytes.length} bytes where the header speaks of ${8 + length + end}`);
  }
  return out;
}
