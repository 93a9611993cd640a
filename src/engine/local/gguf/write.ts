/** Writes GGUF files that llama.cpp and what is built on it load: a model with its tokenizer and chat template. */
import { open } from "node:fs/promises";
import { writeError } from "../../../common/files/files.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { DecoderConfig } from "../config.ts";
import type { ModelFolder } from "../folder.ts";
import { parametersOf } from "../parameters.ts";
import { rotaryFrequencies } from "../rotaryTables.ts";
import { ggufName, reorderHeads, ropeFactors, turnedHeads } from "./names.ts";
import { type PackedType, pack } from "./pack.ts";
import { type Entry, float, headerBytes, text, uint } from "./values.ts";
import { tokenizerEntries } from "./writeTokenizer.ts";

export { type PackedType, packedTypes } from "./pack.ts";

/** Numbers of llama.cpp: of a type of tensor, and of a file that is mostly of this type. */
const numbers = {
  F32: { tensor: 0, file: 0 },
  F16: { tensor: 1, file: 1 },
  BF16: { tensor: 30, file: 32 },
  Q8_0: { tensor: 8, file: 7 },
} as const satisfies Record<PackedType, object>;

const alignment = 32;
const aligned = (bytes: number): number => alignment * Math.ceil(bytes / alignment);

function scalingEntries({ ropeScaling: s, family, headWidth }: DecoderConfig): Record<string, Entry> {
  if (!s || s.type === "llama3") return {};
  const at = `${family}.rope.scaling`;
  const stretch = { [`${at}.type`]: text(s.type), [`${at}.factor`]: float(s.factor) };
  if (s.type === "linear") return stretch;
  const usual = s.factor <= 1 ? 1 : 0.1 * Math.log(s.factor) + 1;
  if (!s.truncate) throw unwritable(`YaRN with unrounded ends over heads of width ${headWidth}`);
  return {
    ...stretch,
    [`${at}.original_context_length`]: uint(s.originalTokens),
    [`${at}.attn_factor`]: float(s.attention / usual),
    [`${at}.yarn_beta_fast`]: float(s.betaFast),
    [`${at}.yarn_beta_slow`]: float(s.betaSlow),
  };
}

function unwritable(got: string): WhetstoneError {
  return new WhetstoneError("model.unsupported", {
    where: "export to GGUF",
    got,
    expected: "a model that llama.cpp computes in the same way",
    fix: "Export with --to safetensors instead.",
  });
}

function shapeEntries(c: DecoderConfig): Record<string, Entry> {
  const usual = Array.from({ length: c.layers }, (_, i) => i).filter((i) => i % 4 === 3);
  if (c.unturned.join() !== (c.family === "smollm3" ? usual.join() : "")) {
    throw unwritable("layers without rotary embedding other than every fourth");
  }
  const own = (key: string): string => `${c.family}.${key}`;
  return {
    [own("vocab_size")]: uint(c.vocabulary),
    [own("context_length")]: uint(c.contextTokens),
    [own("embedding_length")]: uint(c.width),
    [own("block_count")]: uint(c.layers),
    [own("feed_forward_length")]: uint(c.feedForward),
    [own("attention.head_count")]: uint(c.heads),
    [own("attention.head_count_kv")]: uint(c.kvHeads),
    [own("attention.key_length")]: uint(c.headWidth),
    [own("attention.value_length")]: uint(c.headWidth),
    [own("attention.layer_norm_rms_epsilon")]: float(c.epsilon),
    [own("rope.dimension_count")]: uint(c.headWidth),
    [own("rope.freq_base")]: float(c.ropeTheta),
    ...scalingEntries(c),
  };
}

interface Stored {
  readonly name: string;
  /** As here: the last axis lies contiguous in memory. */
  readonly shape: readonly number[];
  readonly type: PackedType;
  values(): Float32Array;
}

function storedTensors({ config, weights }: ModelFolder, type: PackedType): Stored[] {
  const tensors = parametersOf(config).map(({ name, shape }): Stored => {
    const heads = turnedHeads(config, name);
    const values = weights.get(name)!;
    return {
      name: ggufName(name),
      shape,
      // vectors stay exact, and rows that are no whole number of blocks
      type: shape.length === 1 || (type === "Q8_0" && shape[1]! % 32 !== 0) ? "F32" : type,
      values: () => (heads === undefined ? values : reorderHeads(values, heads, shape[0]!, "pairs")),
    };
  });
  if (config.ropeScaling?.type !== "llama3") return tensors;
  const { ropeScaling: _, ...plain } = config;
  const stretched = rotaryFrequencies(config);
  const divisors = Float32Array.from(rotaryFrequencies(plain), (f, i) => f / stretched[i]!);
  return [...tensors, { name: ropeFactors, shape: [divisors.length], type: "F32", values: () => divisors }];
}

const bytesOf = ({ shape, type }: Stored): number => {
  const values = shape.reduce((a, b) => a * b, 1);
  return type === "Q8_0" ? (values / 32) * 34 : values * (type === "F32" ? 4 : 2);
};

/** The list of tensors: name, axes from the contiguous one on, type, place. */
function listBytes(tensors: readonly Stored[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const tensor of tensors) {
    const name = new TextEncoder().encode(tensor.name);
    const { shape } = tensor;
    const part = new DataView(new ArrayBuffer(8 + name.length + 4 + 8 * shape.length + 4 + 8));
    part.setBigUint64(0, BigInt(name.length), true);
    new Uint8Array(part.buffer).set(name, 8);
    let to = 8 + name.length;
    part.setUint32(to, shape.length, true);
    shape.toReversed().forEach((size, i) => {
      part.setBigUint64(to + 4 + 8 * i, BigInt(size), true);
    });
    to += 4 + 8 * shape.length;
    part.setUint32(to, numbers[tensor.type].tensor, true);
    part.setBigUint64(to + 4, BigInt(at), true);
    parts.push(new Uint8Array(part.buffer));
    at += aligned(bytesOf(tensor));
  }
  return Buffer.concat(parts);
}

/**
 * Writes a model and flushes it to the disk.
 * @param path of a new file. @param type of its matrices. @param name what the file calls the model.
 * @throws WhetstoneError `model.unsupported`, `disk.write`, `folder.unwritable`.
 */
export async function writeGguf(
  path: string,
  model: ModelFolder,
  type: PackedType,
  name: string,
): Promise<void> {
  const { config, tokenizer } = model;
  const entries: Record<string, Entry> = {
    "general.architecture": text(config.family),
    "general.type": text("model"),
    "general.name": text(name),
    "general.file_type": uint(numbers[type].file),
    "general.quantization_version": uint(2),
    ...shapeEntries(config),
    ...tokenizerEntries(tokenizer, config.vocabulary),
  };
  const tensors = storedTensors(model, type);
  const header = Buffer.concat([headerBytes(entries, tensors.length), listBytes(tensors)]);
  const padding = (bytes: number): Uint8Array => new Uint8Array(aligned(bytes) - bytes);
  try {
    const file = await open(path, "wx");
    try {
      await file.writeFile(header);
      await file.writeFile(padding(header.length));
      for (const tensor of tensors) {
        await file.writeFile(pack(tensor.values(), tensor.type));
        await file.writeFile(padding(bytesOf(tensor)));
      }
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (e) {
    throw writeError(path, e);
  }
}
