/** The conversation form of models made from scratch: `<user> … <end> <assistant> … <end> <user> … <end> <assistant>`. */
import { writeMessage } from "../../common/text/toolCalls.ts";
import { concatIds } from "../../common/tokens/sequence.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import type { Message } from "../../core/types.ts";
import { loadTokenizer, specials, type TokenizerFiles } from "./tokenizer.ts";

/** Capacity of the token cache in characters; each text counts as 100 more. */
export const mostKnown = 10e6;

/** Caches tokenizers: 100,000 words take seconds to set up, and every fork and frozen copy of a model needs one. */
const codecs = new WeakMap<TokenizerFiles, Codec>();

/** The codec of a tokenizer that has our markers. */
export function markerCodec(files: TokenizerFiles): Codec {
  const codec = codecs.get(files) ?? codecOf(files);
  codecs.set(files, codec);
  return codec;
}

/** Markers are added as ids and never parsed from text, so that no content can forge one. */
function codecOf(files: TokenizerFiles): Codec {
  const tokenizer = loadTokenizer(files);
  const id = (token: string): number => {
    const found = tokenizer.token_to_id(token);
    if (found !== undefined) return found;
    throw new WhetstoneError("checkpoint.damaged", {
      where: "tokenizer.json",
      got: `no token ${token}`,
      expected: "the marker tokens of the conversation form",
      fix: "Use the tokenizer that was saved with the checkpoint.",
    });
  };
  const endId = id(specials.end);
  const padId = id(specials.pad);
  const unknownId = id(specials.unknown);
  const markers = new Map(Object.values(specials).map((token) => [id(token), token]));
  const role = {
    system: id(specials.system),
    user: id(specials.user),
    assistant: id(specials.assistant),
    tool: id(specials.tool),
  };
  const known = new Map<string, Int32Array>();
  let held = 0;
  const encode = (text: string): Int32Array => {
    const seen = known.get(text);
    if (seen) return seen;
    // text that spells a marker is content: an inserted space keeps it from becoming a marker
    const safe = text.replaceAll(/<(pad|unk|end|system|user|assistant|tool)>/g, "< $1 >");
    const ids = Int32Array.from(tokenizer.encode(safe, { add_special_tokens: false }).ids);
    held += text.length + 100;
    if (held > mostKnown) {
      known.clear();
      held = text.length;
    }
    known.set(text, ids);
    return ids;
  };
  const one = (token: number): Int32Array => Int32Array.of(token);
  const written = (messages: readonly Message[]): Int32Array =>
    concatIds([
      ...messages.flatMap((m) => [one(role[m.role]), encode(writeMessage(m)), one(endId)]),
      one(role.assistant),
    ]);
  return {
    vocabulary: tokenizer.get_vocab(true).size,
    padId,
    endId,
    encode,
    decode: (ids) => {
      const content = [...ids].filter((token) => token === unknownId || !markers.has(token));
      return content.length === 0 ? "" : tokenizer.decode(content, { skip_special_tokens: false });
    },
    open: written,
    extend: (stop, messages) =>
      stop === "eos" ? written(messages) : concatIds([one(endId), written(messages)]),
  };
}
