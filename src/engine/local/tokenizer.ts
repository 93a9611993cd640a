/** Small tokenizers for models made from scratch, in Hugging Face's tokenizer.json form. */
import { Tokenizer } from "@huggingface/tokenizers";
import type { Json } from "../../core/json.ts";

export const specials = {
  pad: "<pad>",
  unknown: "<unk>",
  end: "<end>",
  system: "<system>",
  user: "<user>",
  assistant: "<assistant>",
  tool: "<tool>",
} as const;

/** The files of a Hugging Face tokenizer and its chat template. */
export interface TokenizerFiles {
  /** tokenizer.json */
  readonly tokenizer: Readonly<Record<string, unknown>>;
  /** tokenizer_config.json */
  readonly config: Readonly<Record<string, unknown>>;
  /** The chat template in Jinja; absent for the tokenizers of this file. */
  readonly template?: string;
  /** Variables of the template besides the messages, e.g. `enable_thinking`. */
  readonly variables?: Readonly<Record<string, Json>>;
  /** Other files of its original folder, by name. They are copied into saved checkpoints. */
  readonly origin?: Readonly<Record<string, Uint8Array>>;
}

/** Whether a tokenizer.json was made here, that is, has the markers of our own conversation form. */
export function hasMarkers({ tokenizer }: TokenizerFiles): boolean {
  const added: unknown = tokenizer.added_tokens;
  if (!Array.isArray(added)) return false;
  const contents = new Set(added.map((token: { readonly content?: unknown } | null) => token?.content));
  return Object.values(specials).every((marker) => contents.has(marker));
}

const addedTokens = Object.values(specials).map((content, id) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
}));

/** The conversation form that `chatCodec` writes, as a chat template for other tools. */
const template =
  "{% for m in messages %}{{ '<' + m['role'] + '> ' + m['content'] + ' <end> ' }}{% endfor %}{% if add_generation_prompt %}{{ '<assistant> ' }}{% endif %}";

const config = {
  tokenizer_class: "PreTrainedTokenizerFast",
  pad_token: specials.pad,
  unk_token: specials.unknown,
  eos_token: specials.end,
  chat_template: template,
  clean_up_tokenization_spaces: false,
};

/** The words of texts, split at white space, in a fixed order. */
export function wordsOf(texts: Iterable<string>): string[] {
  const words = new Set<string>();
  for (const text of texts) for (const word of text.split(/\s+/)) if (word !== "") words.add(word);
  return [...words].sort();
}

/** Shared by both kinds: no text is normalised, truncated or wrapped. */
const frame = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: addedTokens,
  normalizer: null,
  post_processor: null,
};

/** One id per word; every other word is `<unk>`. Decoding joins words with single spaces. */
export function wordTokenizer(texts: Iterable<string>): TokenizerFiles {
  const vocabulary = new Map<string, number>();
  for (const token of [...Object.values(specials), ...wordsOf(texts)]) {
    if (!vocabulary.has(token)) vocabulary.set(token, vocabulary.size);
  }
  return {
    tokenizer: {
      ...frame,
      pre_tokenizer: { type: "WhitespaceSplit" },
      decoder: { type: "WordPiece", prefix: "##", cleanup: false },
      // WordPiece over whole words: the one kind of word-level model that every implementation loads
      model: {
        type: "WordPiece",
        unk_token: specials.unknown,
        continuing_subword_prefix: "##",
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(vocabulary),
      },
    },
    config,
  };
}

/** GPT-2's printable stand-ins for the 256 bytes. */
function byteAlphabet(): string[] {
  const printable = (b: number): boolean => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let shifted = 0;
  return Array.from({ length: 256 }, (_, b) => String.fromCodePoint(printable(b) ? b : 256 + shifted++));
}

/** One id per byte: encodes any text, at the price of long sequences. */
export function byteTokenizer(): TokenizerFiles {
  const offset = addedTokens.length;
  const vocabulary = Object.fromEntries(byteAlphabet().map((c, i) => [c, offset + i]));
  return {
    tokenizer: {
      ...frame,
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      // Rust's tokenizers requires every field
      decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
      model: { type: "BPE", unk_token: null, vocab: vocabulary, merges: [], ignore_merges: false },
    },
    config,
  };
}

/** The files that a codec needs, without the megabytes that only a saved checkpoint needs. */
export function withoutOrigin({ origin: _, ...files }: TokenizerFiles): TokenizerFiles {
  return files;
}

/** A ready tokenizer from its two files. */
export function loadTokenizer(files: TokenizerFiles): Tokenizer {
  return new Tokenizer(files.tokenizer, files.config);
}
