/**
 * Encodes conversations with a checkpoint's own chat template. The sequence only grows: if a template would change
 * earlier turns (by leaving out thoughts, say), they stay as they were sampled.
 */
import { createContext, Script } from "node:vm";
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import { jsonOrText, onlyOffers } from "../../common/text/toolCalls.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Codec } from "../../core/model.ts";
import type { Message, Tool } from "../../core/types.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

/** Unicode noncharacters, reserved for internal use. If a text contains one, it is replaced. */
const reserved = /[\u{fdd0}-\u{fdef}]/gu;
/** Inserted where a message's text would otherwise spell a special token. */
const breaker = "\u{fdd0}";
/** Stands for the text before a text that is not at the beginning of the sequence. */
const before = "\u{fdd1}";
/** Stands for a reply in a rendered conversation. */
const reply = "\u{fdd2}";

const addedToken = z.looseObject({
  id: z.int().nonnegative(),
  content: z.string().min(1),
  special: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
});
type AddedToken = z.infer<typeof addedToken>;

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

function refused(e: unknown): WhetstoneError {
  return new WhetstoneError("template.failed", {
    where: "chat template",
    got: messageOf(e),
    expected: "a template that takes the conversation",
    fix: "Give the messages in roles and an order that the model was trained on, or put another chat_template.jinja into the checkpoint's folder.",
    cause: e,
  });
}

/** A fixed date for all runs: today's date would make prompts differ from day to day. It is Llama's own fallback. */
const clock: Readonly<Record<string, string>> = {
  "%d": "26",
  "%-d": "26",
  "%e": "26",
  "%m": "07",
  "%b": "Jul",
  "%B": "July",
  "%y": "24",
  "%Y": "2024",
  "%a": "Fri",
  "%A": "Friday",
  "%H": "00",
  "%M": "00",
  "%S": "00",
};
/** The template engine's clock can only be replaced from within a template; the empty text keeps a first newline. */
const clockFirst = "{% set strftime_now = fixed_clock %}{{ '' }}";
const strftime = (format: string): string => format.replaceAll(/%-?[a-zA-Z]/g, (code) => clock[code] ?? code);

/** Capacity of the token cache in characters; each text counts as 100 more. */
export const mostKnown = 10e6;

/** Milliseconds for rendering a conversation of two words. */
const longest = 2000;

/** Renders a template, whose loops may never end. @throws WhetstoneError `template.failed` on a timeout. */
function withinTime(render: () => string): string {
  let rendered = "";
  const run = (): void => {
    rendered = render();
  };
  try {
    // the timeout of the outer script also covers everything that it calls
    new Script("run()").runInContext(createContext({ run }), { timeout: longest });
  } catch (e) {
    // an error of another realm is not an instance of this realm's Error
    const { code } = (e ?? {}) as { readonly code?: string };
    if (code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw e;
    throw refused(new Error(`no result within ${longest / 1000} s`));
  }
  return rendered;
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

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Finds the special tokens of a rendered conversation, and keeps message text from spelling one. */
interface Guard {
  /** Splits a rendered text into ids of special tokens and the texts between them. */
  split(rendered: string): (string | number)[];
  /** The text of a message, made safe for a template. */
  seal(text: string): string;
}

function guardOf(tokens: readonly AddedToken[]): Guard {
  const byContent = new Map(tokens.map((t) => [t.content, t]));
  // the longest match at a position wins, as in every implementation
  const any = [...byContent.keys()]
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join("|");
  const nothing = "(?!)";
  const found = new RegExp(`(?:${any || nothing})(?!${breaker})`, "gu");
  const begun = new RegExp(`(?=${any || nothing})(.)`, "gsu");
  const beginnings = new Set<string>();
  for (const content of byContent.keys()) {
    for (let n = 1; n < content.length; n++) beginnings.add(content.slice(0, n));
  }
  const longest = [...beginnings].reduce((n, b) => Math.max(n, b.length), 0);
  return {
    split(rendered) {
      const out: (string | number)[] = [];
      let from = 0;
      let strip = false;
      const text = (to: number, next: AddedToken | undefined): void => {
        let piece = rendered.slice(from, to);
        if (strip) piece = piece.trimStart();
        if (next?.lstrip) piece = piece.trimEnd();
        piece = piece.replaceAll(breaker, "");
        if (piece !== "") out.push(piece);
      };
      for (const match of rendered.matchAll(found)) {
        const token = byContent.get(match[0])!;
        text(match.index, token);
        out.push(token.id);
        from = match.index + match[0].length;
        strip = token.rstrip;
      }
      text(rendered.length, undefined);
      return out;
    },
    seal(text) {
      let out = text.replaceAll(reserved, "\u{fffd}").replaceAll(begun, `$1${breaker}`);
      // the template's next characters must not complete a special token that the text begins
      const end = out.trimEnd().length;
      for (let n = 1; n <= Math.min(longest, end); n++) {
        const at = end - n;
        if (beginnings.has(out.slice(at, end))) out = `${out.slice(0, at + 1)}${breaker}${out.slice(at + 1)}`;
      }
      return out;
    },
  };
}

/** Makes every text within a value safe. */
function sealed(value: Json, guard: Guard): Json {
  if (typeof value === "string") return guard.seal(value);
  if (Array.isArray(value)) return value.map((v) => sealed(v, guard));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [guard.seal(key), sealed(v, guard)]));
}

/** A tool in the form that chat templates expect. */
const toolAsTemplateSees = ({ name, description, parameters }: Tool): Json => ({
  type: "function",
  function: { name, description, parameters },
});

/** A message in the form that chat templates expect. */
function asTemplateSees(m: Message): Json {
  return {
    role: m.role,
    content: m.content,
    ...(m.name === undefined ? {} : { name: m.name }),
    ...(m.toolCallId === undefined ? {} : { tool_call_id: m.toolCallId }),
    ...(m.toolCalls && m.toolCalls.length > 0
      ? {
          // templates want arguments as an object; kept as text if the model did not write one
          tool_calls: m.toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: jsonOrText(call.arguments) },
          })),
        }
      : {}),
  };
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

/**
 * @throws WhetstoneError `checkpoint.damaged` when the tokenizer cannot be used; `template.failed` when the template
 * cannot be parsed, or (from `open` and `extend`) rejects a conversation.
 */
export function templateCodec(files: TokenizerFiles): Codec {
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
  const named = [config.bos_token, config.eos_token, config.pad_token].map(tokenOf);
  const special = new Map<string, AddedToken>();
  for (const token of [...added.filter((t) => t.special), ...named]) {
    if (token) special.set(token.content, token);
  }

  if (files.template === undefined) {
    throw new WhetstoneError("template.failed", {
      where: "chat template",
      got: "none",
      expected: "a chat_template.jinja file, or `chat_template` in tokenizer_config.json",
      fix: "Choose the instruction-tuned variant of the checkpoint, or put a chat_template.jinja into its folder.",
    });
  }
  let template: Template;
  try {
    template = new Template(clockFirst + files.template);
  } catch (e) {
    throw refused(e);
  }
  const fixed = {
    ...Object.fromEntries(
      Object.entries({
        bos_token: config.bos_token,
        eos_token: config.eos_token,
        pad_token: config.pad_token,
        unk_token: config.unk_token,
      }).filter(([, token]) => typeof token === "string"),
    ),
    // other implementations always pass these, and templates test them
    tools: null,
    documents: null,
    fixed_clock: strftime,
    ...files.variables,
  };
  const render = (messages: readonly Json[], asking: boolean, offers?: { readonly tools: Json }): string => {
    try {
      return template.render({ ...fixed, ...offers, messages, add_generation_prompt: asking });
    } catch (e) {
      throw refused(e);
    }
  };

  /** The text between a reply and the end of the next generation prompt, when `messages` follow the reply. */
  const afterReply = (messages: readonly Json[], asking: boolean): string => {
    const conversation = [{ role: "user", content: "?" }, { role: "assistant", content: reply }, ...messages];
    const rendered = render(conversation, asking);
    const at = rendered.lastIndexOf(reply);
    if (at < 0) throw refused(new Error("a template that leaves out replies"));
    return rendered.slice(at + reply.length);
  };

  // the end-of-turn token of the template: a checkpoint's eos_token is often that of its base model
  const closing = withinTime(() => afterReply([], false)).trimStart();
  const closer = added
    .filter((t) => closing.startsWith(t.content))
    .sort((a, b) => b.content.length - a.content.length)[0];
  const end = closer ?? tokenOf(config.eos_token);
  if (!end) throw unusable("a tokenizer without an end-of-turn token");
  special.set(end.content, end);

  const guard = guardOf([...special.values()]);
  const plain = plainEncoder(files, vocab, new Set(special.keys()));
  const hidden = new Set([...special.values()].map((t) => t.id));
  const known = new Map<string, readonly number[]>();
  let held = 0;
  const encodeText = (text: string, first: boolean): readonly number[] => {
    const key = `${first ? 1 : 0}${text}`;
    const seen = known.get(key);
    if (seen) return seen;
    const ids = plain.encode(text, first);
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
  const encodePieces = (pieces: readonly (string | number)[], first: boolean): Int32Array =>
    Int32Array.from(
      pieces.flatMap((piece, i) =>
        typeof piece === "number" ? [piece] : encodeText(piece, first && i === 0),
      ),
    );
  const seenByTemplate = (messages: readonly Message[]): Json[] =>
    messages.filter((m) => !onlyOffers(m)).map((m) => sealed(asTemplateSees(m), guard));
  const offered = (messages: readonly Message[]): { readonly tools: Json } | undefined => {
    const tools = messages.findLast((m) => m.tools)?.tools ?? [];
    return tools.length === 0
      ? undefined
      : { tools: tools.map((tool) => sealed(toolAsTemplateSees(tool), guard)) };
  };
  const size = idsIn(vocab, added);

  return {
    vocabulary: size,
    padId: tokenOf(config.pad_token)?.id ?? end.id,
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
      encodePieces(guard.split(render(seenByTemplate(messages), true, offered(messages))), true),
    extend(stop, messages) {
      const pieces = guard.split(afterReply(seenByTemplate(messages), true));
      if (stop !== "eos") return encodePieces(pieces, false);
      const [head, next] = pieces;
      const closed =
        head === end.id ? 1 : typeof head === "string" && head.trim() === "" && next === end.id ? 2 : 0;
      return encodePieces(pieces.slice(closed), false);
    },
  };
}
