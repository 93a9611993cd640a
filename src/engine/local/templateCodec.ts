/**
 * Encodes conversations with a checkpoint's own chat template. The sequence only grows: if a template would change
 * earlier turns (by leaving out thoughts, say), they stay as they were sampled.
 */
import { Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import { onlyOffers } from "../../common/text/toolCalls.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Codec } from "../../core/model.ts";
import type { Message } from "../../core/types.ts";
import { asTemplateSees, type ChatTemplate, chatTemplate, toolAsTemplateSees } from "./chatTemplate.ts";
import { mostKnown } from "./markerCodec.ts";
import { type AddedToken, addedToken, type Guard, guardOf } from "./specialTokens.ts";
import type { TokenizerFiles } from "./tokenizer.ts";
import { toolsAsText, toolsInTextVariable } from "./toolsInText.ts";

/** Stands for the text before a text that is not at the beginning of the sequence. */
const before = "\u{fdd1}";

const tokenizerShape = z.looseObject({
  added_tokens: z.array(addedToken).default([]),
  model: z.looseObject({
    /** An object of ids, or a list of pieces: a Unigram model. */
    vocab: z.unknown().optional(),
    unk_token: z.string().nullish(),
  }),
});
const namedToken = z.union([z.string(), z.looseObject({ content: z.string() }).transform((t) => t.content)]);
const configShape = z.looseObject({
  bos_token: namedToken.nullish().catch(null),
  eos_token: namedToken.nullish().catch(null),
  pad_token: namedToken.nullish().catch(null),
  unk_token: namedToken.nullish().catch(null),
});

function unusable(got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where: "tokenizer.json",
    got,
    expected: "a Hugging Face tokenizer with an end-of-turn token",
    fix: "Use the tokenizer files that belong to the checkpoint.",
  });
}

/** The tokens of a vocabulary by their text. */
function vocabularyOf(vocab: unknown): Map<string, number> {
  if (Array.isArray(vocab)) {
    // a Unigram model: pieces with their scores; the index is the id
    return new Map(vocab.map((piece: unknown, id) => [String(Array.isArray(piece) ? piece[0] : piece), id]));
  }
  const out = new Map<string, number>();
  if (typeof vocab === "object" && vocab !== null) {
    for (const [token, id] of Object.entries(vocab)) if (typeof id === "number") out.set(token, id);
  }
  return out;
}

/** The highest id + 1. */
function idsIn(vocab: ReadonlyMap<string, number>, added: readonly AddedToken[]): number {
  let highest = -1;
  for (const id of vocab.values()) highest = Math.max(highest, id);
  for (const { id } of added) highest = Math.max(highest, id);
  return highest + 1;
}

/** Makes every text within a value safe. */
function sealed(value: Json, guard: Guard): Json {
  if (typeof value === "string") return guard.seal(value);
  if (Array.isArray(value)) return value.map((v) => sealed(v, guard));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [guard.seal(key), sealed(v, guard)]));
}

/** Converts text to ids without special tokens: whatever the text spells is read as text. */
function plainEncoder(
  files: TokenizerFiles,
  vocab: ReadonlyMap<string, number>,
  guarded: ReadonlySet<string>,
): { readonly tokenizer: Tokenizer; encode(text: string, first: boolean): number[] } {
  const { added_tokens: added, model } = tokenizerShape.parse(files.tokenizer);
  const spelled = [...guarded].some((content) => content !== model.unk_token && vocab.has(content));
  const mayStay = ([token]: readonly [string, number]): boolean =>
    token === model.unk_token || !guarded.has(token);
  const beforeId = idsIn(vocab, added);
  const tokenizer = new Tokenizer(
    {
      ...files.tokenizer,
      added_tokens: [
        ...added.filter((t) => !guarded.has(t.content)),
        { id: beforeId, content: before, special: true, normalized: false, lstrip: false, rstrip: false },
      ],
      model:
        spelled && !Array.isArray(model.vocab)
          ? { ...model, vocab: Object.fromEntries([...vocab].filter(mayStay)) }
          : model,
    },
    files.config,
  );
  return {
    tokenizer,
    encode(text, first) {
      const { ids } = tokenizer.encode(first ? text : before + text, { add_special_tokens: false });
      return first ? ids : ids.slice(1);
    },
  };
}

/** Vocabulary, special tokens and end-of-turn token of a checkpoint's tokenizer. */
interface ReadTokens {
  readonly vocab: ReadonlyMap<string, number>;
  /** By their text. */
  readonly special: ReadonlyMap<string, AddedToken>;
  readonly end: AddedToken;
  readonly padId: number;
  /** The highest id + 1. */
  readonly size: number;
  readonly template: ChatTemplate;
}

function readTokens(files: TokenizerFiles): ReadTokens {
  const shape = tokenizerShape.safeParse(files.tokenizer);
  if (!shape.success) throw unusable(z.prettifyError(shape.error).replaceAll("\n", " "));
  const { added_tokens: added, model } = shape.data;
  const config = configShape.parse(files.config);
  const vocab = vocabularyOf(model.vocab);
  const byContent = new Map(added.map((t) => [t.content, t]));
  const tokenOf = (content: string | null | undefined): AddedToken | undefined => {
    if (content === undefined || content === null) return undefined;
    const id = vocab.get(content);
    return (
      byContent.get(content) ??
      (id === undefined ? undefined : { id, content, special: true, lstrip: false, rstrip: false })
    );
  };
  const { bos_token, eos_token, pad_token, unk_token } = config;
  const named = [bos_token, eos_token, pad_token].map(tokenOf);
  const special = new Map<string, AddedToken>();
  for (const token of [...added.filter((t) => t.special), ...named]) {
    if (token) special.set(token.content, token);
  }
  const template = chatTemplate(files, { bos_token, eos_token, pad_token, unk_token });
  // the end-of-turn token of the template: a checkpoint's eos_token is often that of its base model
  const closing = template.closing().trimStart();
  const closer = added
    .filter((t) => closing.startsWith(t.content))
    .sort((a, b) => b.content.length - a.content.length)[0];
  const end = closer ?? tokenOf(eos_token);
  if (!end) throw unusable("a tokenizer without an end-of-turn token");
  special.set(end.content, end);
  return {
    vocab,
    special,
    end,
    padId: tokenOf(pad_token)?.id ?? end.id,
    size: idsIn(vocab, added),
    template,
  };
}

/** Encodes texts and remembers them. @param hidden ids of special tokens, which no text may spell. */
function cachedEncoder(
  encode: (text: string, first: boolean) => number[],
  hidden: ReadonlySet<number>,
): (text: string, first: boolean) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  let held = 0;
  return (text, first) => {
    const key = `${first ? 1 : 0}${text}`;
    const seen = known.get(key);
    if (seen) return seen;
    const ids = encode(text, first);
    // reached only if the model's own pieces spell a special token
    if (ids.some((id) => hidden.has(id)))
      throw unusable(`a special token spelled in ${JSON.stringify(text)}`);
    held += text.length + 100;
    if (held > mostKnown) {
      known.clear();
      held = text.length;
    }
    known.set(key, ids);
    return ids;
  };
}

/**
 * @throws WhetstoneError `checkpoint.damaged` when the tokenizer cannot be used; `template.failed` when the template
 * cannot be parsed, or (from `open` and `extend`) rejects a conversation.
 */
export function templateCodec(files: TokenizerFiles): Codec {
  const { vocab, special, end, padId, size, template } = readTokens(files);
  const guard = guardOf([...special.values()]);
  const plain = plainEncoder(files, vocab, new Set(special.keys()));
  const hidden = new Set([...special.values()].map((t) => t.id));
  const encodeText = cachedEncoder(plain.encode, hidden);
  const encodePieces = (pieces: readonly (string | number)[], first: boolean): Int32Array =>
    Int32Array.from(
      pieces.flatMap((piece, i) =>
        typeof piece === "number" ? [piece] : encodeText(piece, first && i === 0),
      ),
    );
  const inText = files.variables?.[toolsInTextVariable] === true;
  const seenByTemplate = (messages: readonly Message[]): Json[] =>
    (inText ? toolsAsText(messages) : messages.filter((m) => !onlyOffers(m))).map((m) =>
      sealed(asTemplateSees(m), guard),
    );
  const offered = (messages: readonly Message[]): { readonly tools: Json } | undefined => {
    const tools = messages.findLast((m) => m.tools)?.tools ?? [];
    return tools.length === 0 || inText
      ? undefined
      : { tools: tools.map((tool) => sealed(toolAsTemplateSees(tool), guard)) };
  };

  return {
    vocabulary: size,
    padId,
    endId: end.id,
    encode: (text) => encodePieces(text === "" ? [] : [text], false),
    decode(ids) {
      // the embedding table may have more rows than the tokenizer has tokens
      const content = [...ids].filter((id) => id < size && !hidden.has(id));
      if (content.length === 0) return "";
      return plain.tokenizer.decode(content, {
        skip_special_tokens: false,
        clean_up_tokenization_spaces: false,
      });
    },
    open: (messages) =>
      encodePieces(guard.split(template.render(seenByTemplate(messages), true, offered(messages))), true),
    extend(stop, messages) {
      const pieces = guard.split(template.afterReply(seenByTemplate(messages), true));
      if (stop !== "eos") return encodePieces(pieces, false);
      const [head, next] = pieces;
      const closed =
        head === end.id ? 1 : typeof head === "string" && head.trim() === "" && next === end.id ? 2 : 0;
      return encodePieces(pieces.slice(closed), false);
    },
  };
}
