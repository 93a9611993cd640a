/** A Hugging Face tokenizer and chat template as the metadata of a GGUF file. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { WhetstoneError } from "../../../core/errors.ts";
import { chatCodec } from "../codec.ts";
import type { TokenizerFiles } from "../tokenizer.ts";
import { scoresOf, sentencePieceParts } from "./sentencePiece.ts";
import { kinds, preTokenizer, splittings } from "./tokenizer.ts";
import { type Entry, list, text, uint } from "./values.ts";

const shape = z.looseObject({
  added_tokens: z
    .array(z.looseObject({ id: z.int(), content: z.string(), special: z.boolean() }))
    .default([]),
  normalizer: z.unknown(),
  pre_tokenizer: z.unknown(),
  model: z.looseObject({
    type: z.string(),
    vocab: z.record(z.string(), z.int()),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
    byte_fallback: z.boolean().default(false),
  }),
});

function unwritable(got: string): WhetstoneError {
  return new WhetstoneError("model.unsupported", {
    where: "export to GGUF",
    got,
    expected:
      "a byte-level BPE of Llama 3, Qwen or SmolLM, or SentencePiece as in Llama 2, with a chat template",
    fix: "Export with --to safetensors, and convert that with llama.cpp's own script.",
  });
}

/** What decides how a text is split; what another writer adds to a step does not. */
function essence(step: unknown): unknown {
  if (typeof step !== "object" || step === null) return step;
  const { type, pretokenizers, pattern, individual_digits, use_regex, add_prefix_space } = step as Record<
    string,
    unknown
  >;
  if (type === "Sequence" && Array.isArray(pretokenizers)) return pretokenizers.map(essence);
  return { type, pattern, individual_digits, use_regex: use_regex ?? true, add_prefix_space };
}

/** The name that llama.cpp gives the way in which a tokenizer splits texts. */
function splittingName(preTokens: unknown): string {
  const found = Object.entries(splittings).find(([, how]) =>
    isDeepStrictEqual(essence(preTokens), essence(preTokenizer(how))),
  );
  if (found) return found[0];
  throw unwritable("a tokenizer that splits texts in another way");
}

/** What a tokenizer's kind decides. @param tokens by id. */
function kindEntries(
  { model, normalizer, pre_tokenizer: preTokens }: z.infer<typeof shape>,
  tokens: readonly string[],
): Record<string, Entry> {
  const merges = model.merges.map((merge) =>
    typeof merge === "string" ? (merge.split(" ", 2) as [string, string]) : merge,
  );
  const prefixes = [true, false].find((prefix) =>
    isDeepStrictEqual(normalizer, sentencePieceParts(prefix).normalizer),
  );
  const addsPrefix = (value: boolean): Record<string, Entry> => ({
    "tokenizer.ggml.add_space_prefix": { type: "bool", value },
  });
  if (model.byte_fallback && prefixes !== undefined && (preTokens ?? null) === null)
    return {
      "tokenizer.ggml.model": text("llama"),
      "tokenizer.ggml.pre": text("default"),
      "tokenizer.ggml.scores": list([...scoresOf(tokens, merges)], "float"),
      ...addsPrefix(prefixes),
    };
  return {
    "tokenizer.ggml.model": text("gpt2"),
    "tokenizer.ggml.pre": text(splittingName(preTokens)),
    "tokenizer.ggml.merges": list(
      merges.map((merge) => merge.join(" ")),
      "text",
    ),
    ...addsPrefix(false),
  };
}

/**
 * @param vocabulary rows of the embeddings: those without a token get a made-up one that no text becomes.
 * @throws WhetstoneError `model.unsupported`.
 */
export function tokenizerEntries(files: TokenizerFiles, vocabulary: number): Record<string, Entry> {
  if (files.template === undefined) throw unwritable("a tokenizer that was made here");
  const parsed = shape.safeParse(files.tokenizer);
  if (!parsed.success || parsed.data.model.type !== "BPE") throw unwritable("another kind of tokenizer");
  const { added_tokens: added, model } = parsed.data;
  const tokens = Array.from({ length: vocabulary }, (_, id) => `[PAD${id}]`);
  const types = new Array<number>(vocabulary).fill(kinds.unused);
  for (const [token, id] of Object.entries(model.vocab)) {
    const isByte = model.byte_fallback && /^<0x[0-9A-F]{2}>$/.test(token);
    [tokens[id], types[id]] = [token, isByte ? kinds.byte : kinds.normal];
  }
  for (const { id, content, special } of added)
    [tokens[id], types[id]] = [content, special ? kinds.control : kinds.userDefined];
  const idOf = (name: "bos_token" | "pad_token" | "unk_token"): number | undefined => {
    const stated = files.config[name];
    const content =
      typeof stated === "object" && stated !== null && "content" in stated ? stated.content : stated;
    const id = typeof content === "string" ? tokens.indexOf(content) : -1;
    return id < 0 ? undefined : id;
  };
  const unknown = idOf("unk_token");
  if (unknown !== undefined && model.byte_fallback) types[unknown] = kinds.unknown;
  const named = (key: string, id: number | undefined): Record<string, Entry> =>
    id === undefined ? {} : { [`tokenizer.ggml.${key}_token_id`]: uint(id) };
  return {
    ...kindEntries(parsed.data, tokens),
    "tokenizer.ggml.tokens": list(tokens, "text"),
    "tokenizer.ggml.token_type": list(types, "int"),
    ...named("bos", idOf("bos_token")),
    // the end of a turn: a checkpoint's eos_token is often that of its base model
    ...named("eos", chatCodec(files).endId),
    ...named("padding", idOf("pad_token")),
    ...named("unknown", unknown),
    // where a template wants one, it writes it
    "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
    "tokenizer.chat_template": text(files.template),
  };
}
