/** Values of GGUF metadata, for writing. */
import { GGUFValueType, serializeGgufMetadata } from "@huggingface/gguf";

/** A value with its type in the file. */
export type Entry =
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "uint" | "int" | "float"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | {
      readonly type: "list";
      readonly of: "text" | "int" | "float";
      readonly value: readonly (string | number)[];
    };

export const text = (value: string): Entry => ({ type: "text", value });
export const uint = (value: number): Entry => ({ type: "uint", value });
export const float = (value: number): Entry => ({ type: "float", value });
export const list = (value: readonly (string | number)[], of: "text" | "int" | "float"): Entry => ({
  type: "list",
  of,
  value,
});

const types = {
  text: GGUFValueType.STRING,
  uint: GGUFValueType.UINT32,
  int: GGUFValueType.INT32,
  float: GGUFValueType.FLOAT32,
  bool: GGUFValueType.BOOL,
  list: GGUFValueType.ARRAY,
} as const;

/** The beginning of a file: all before the list of tensors. */
export function headerBytes(entries: Readonly<Record<string, Entry>>, tensors: number): Uint8Array {
  const written = Object.entries(entries).map(([key, entry]) => [
    key,
    {
      value: entry.value,
      type: types[entry.type],
      ...(entry.type === "list" && { subType: types[entry.of] }),
    },
  ]);
  const metadata = {
    version: { value: 3, type: GGUFValueType.UINT32 },
    tensor_count: { value: BigInt(tensors), type: GGUFValueType.UINT64 },
    kv_count: { value: BigInt(written.length), type: GGUFValueType.UINT64 },
    ...Object.fromEntries(written),
  } as Parameters<typeof serializeGgufMetadata>[0];
  // what follows is not aligned
  return serializeGgufMetadata(metadata, { alignment: 1 });
}
