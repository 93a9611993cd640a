/** Conversations as one growing token sequence: `<user> … <end> <assistant> … <end> <user> … <end> <assistant>`. */

import { writeMessage } from "../../common/text/toolCalls.ts";
import { concatIds } from "../../common/tokens/sequence.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import type { Message } from "../../core/types.ts";
import { mostKnown, templateCodec } from "./templateCodec.ts";
import { hasMarkers, loadTokenizer, specials, type TokenizerFiles } from "./tokenizer.ts";

/** Caches tokenizers: 100,000 words take seconds to set up, and every fork and frozen copy of a model needs one. */
const codecs = new WeakMap<TokenizerFiles, Codec>();

/** The codec of a tokenizer: uses our own conversation form if it has our markers, else its chat template. */
export function chatCodec(files: TokenizerFiles): Codec {
  const known = codecs.get(files);
  if (known) return known;
  const codec = hasMarkers(files) ? markerCodec(files) : templateCodec(files);
  codecs.set(files, codec);
  return codec;
}

/** Markers are added as ids and never parsed from text, so that no content can forge one. */
function markerCodec(files: TokenizerFiles): Codec {
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
