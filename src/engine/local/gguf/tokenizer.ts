/** The tokenizer and chat template of a GGUF file, as a Hugging Face folder would have them. */
import { z } from "zod";
import { checkedMetadata, damagedGguf, type GgufFile, unsupportedGguf } from "./file.ts";
import { mergesByScore, sentencePieceParts } from "./sentencePiece.ts";

/** Kinds of tokens, from llama.cpp. Words, their parts and bytes are ordinary. */
export const kinds = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

const named = z.int().nonnegative().optional();
const shape = z.looseObject({
  "tokenizer.ggml.model": z.string(),
  "tokenizer.ggml.pre": z.string().optional(),
  "tokenizer.ggml.tokens": z.array(z.string()).min(1),
  "tokenizer.ggml.token_type": z.array(z.int()),
  "tokenizer.ggml.merges": z.array(z.string()).optional(),
  "tokenizer.ggml.scores": z.array(z.number()).optional(),
  "tokenizer.ggml.add_space_prefix": z.boolean().optional(),
  "tokenizer.ggml.bos_token_id": named,
  "tokenizer.ggml.eos_token_id": named,
  "tokenizer.ggml.padding_token_id": named,
  "tokenizer.ggml.unknown_token_id": named,
  "tokenizer.chat_template": z.string().optional(),
});

/** How a text is split before merging, by the name that llama.cpp gives it. */
interface Splitting {
  /** A regular expression of the parts; without one, GPT-2's. */
  readonly pattern?: string;
  /** Whether every digit is a part of its own. */
  readonly digits?: boolean;
  readonly normalizer?: "NFC";
  /** Whether a part that is a token is taken whole. */
  readonly wholeWords?: boolean;
}

const llama3: Splitting = {
  pattern:
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  wholeWords: true,
};
const qwen2: Splitting = {
  pattern:
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  normalizer: "NFC",
};
export const splittings: Readonly<Record<string, Splitting>> = {
  "gpt-2": {},
  smollm: { digits: true },
  "llama-bpe": llama3,
  llama3,
  "llama-v3": llama3,
  "smaug-bpe": { ...llama3, wholeWords: false },
  qwen2,
  "deepseek-r1-qwen": qwen2,
};

function splittingOf(pre: string | undefined, path: string): Splitting {
  const known = pre === undefined ? undefined : splittings[pre];
  if (known) return known;
  throw unsupportedGguf(
    path,
    pre === undefined ? "a tokenizer without tokenizer.ggml.pre" : `a tokenizer of kind "${pre}"`,
    `one of ${Object.keys(splittings).join(", ")}`,
    "Use the safetensors checkpoint, which has the tokenizer itself.",
  );
}

const byteLevel = (regex: boolean) => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: regex,
});

export function preTokenizer({ pattern, digits }: Splitting): object {
  if (pattern !== undefined) {
    const split = { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false };
    return { type: "Sequence", pretokenizers: [split, byteLevel(false)] };
  }
  if (!digits) return byteLevel(true);
  return { type: "Sequence", pretokenizers: [{ type: "Digits", individual_digits: true }, byteLevel(true)] };
}

/** The two files of a Hugging Face tokenizer, and the chat template within the second. */
export interface TokenizerPair {
  readonly tokenizer: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
}

type Metadata = z.infer<typeof shape>;

/** How texts become tokens: the parts of a Hugging Face tokenizer that depend on the kind of tokenizer. */
interface Parts {
  readonly normalizer: object | null;
  readonly preTokenizer: object | null;
  readonly decoder: object;
  readonly wholeWords: boolean;
  readonly bytes: boolean;
  readonly merges: readonly (string | readonly [string, string])[];
}

function requireForEachToken(key: string, values: readonly number[], m: Metadata, path: string): void {
  const tokens = m["tokenizer.ggml.tokens"].length;
  if (values.length !== tokens)
    throw damagedGguf(path, `tokenizer.ggml.${key} of ${values.length} for ${tokens} tokens`);
}

/** @param ordinary tokens that texts are made of, by their text. */
function partsOf(m: Metadata, ordinary: ReadonlyMap<string, number>, path: string): Parts {
  const kind = m["tokenizer.ggml.model"];
  if (kind === "gpt2") {
    const splitting = splittingOf(m["tokenizer.ggml.pre"], path);
    const merges = m["tokenizer.ggml.merges"];
    if (!merges) throw damagedGguf(path, "no tokenizer.ggml.merges");
    return {
      normalizer: splitting.normalizer ? { type: splitting.normalizer } : null,
      preTokenizer: preTokenizer(splitting),
      decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
      wholeWords: splitting.wholeWords ?? false,
      bytes: false,
      merges,
    };
  }
  if (kind !== "llama") {
    throw unsupportedGguf(
      path,
      `a tokenizer of model "${kind}"`,
      'a byte-level BPE, "gpt2", or SentencePiece, "llama"',
      "Use the safetensors checkpoint, which has the tokenizer itself.",
    );
  }
  const scores = m["tokenizer.ggml.scores"] ?? [];
  requireForEachToken("scores", scores, m, path);
  return {
    ...sentencePieceParts(m["tokenizer.ggml.add_space_prefix"] ?? true),
    preTokenizer: null,
    wholeWords: false,
    bytes: true,
    merges: mergesByScore(ordinary, scores),
  };
}

/** @throws WhetstoneError `checkpoint.damaged`, `model.unsupported`; `template.failed` without a chat template. */
export function ggufTokenizer({ metadata, path }: GgufFile): TokenizerPair {
  const m = checkedMetadata(shape, metadata, "", path);
  const tokens = m["tokenizer.ggml.tokens"];
  const types = m["tokenizer.ggml.token_type"];
  requireForEachToken("token_type", types, m, path);
  const special: readonly (number | undefined)[] = [kinds.control, kinds.unknown];
  const isAdded = (id: number): boolean => special.includes(types[id]) || types[id] === kinds.userDefined;
  const added = tokens.flatMap((content, id) =>
    isAdded(id)
      ? [
          {
            ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false },
            special: special.includes(types[id]),
          },
        ]
      : [],
  );
  const tokensOf = (wanted: (id: number) => boolean): Map<string, number> =>
    new Map(tokens.flatMap((token, id) => (wanted(id) ? [[token, id] as const] : [])));
  const parts = partsOf(
    m,
    tokensOf((id) => types[id] === kinds.normal),
    path,
  );
  // without rows of the embedding table that no text becomes
  const vocab = Object.fromEntries(
    tokensOf((id) => types[id] !== kinds.unused && (!isAdded(id) || types[id] === kinds.unknown)),
  );
  const tokenAt = (key: "bos" | "eos" | "padding" | "unknown"): string | null => {
    const id = m[`tokenizer.ggml.${key}_token_id`];
    if (id === undefined) return null;
    const token = tokens[id];
    if (token === undefined)
      throw damagedGguf(path, `tokenizer.ggml.${key}_token_id ${id} of ${tokens.length} tokens`);
    return token;
  };
  const template = m["tokenizer.chat_template"];
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: parts.normalizer,
      pre_tokenizer: parts.preTokenizer,
      post_processor: null,
      decoder: parts.decoder,
      model: {
        type: "BPE",
        dropout: null,
        unk_token: parts.bytes ? tokenAt("unknown") : null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: parts.bytes,
        byte_fallback: parts.bytes,
        ignore_merges: parts.wholeWords,
        vocab,
        merges: parts.merges,
      },
    },
    config: {
      tokenizer_class: "PreTrainedTokenizerFast",
      bos_token: tokenAt("bos"),
      eos_token: tokenAt("eos"),
      pad_token: tokenAt("padding"),
      unk_token: tokenAt("unknown"),
      clean_up_tokenization_spaces: false,
      model_max_length: 1e30,
      ...(template === undefined ? {} : { chat_template: template }),
    },
  };
}
