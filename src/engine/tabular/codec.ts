/** A word-level codec: every word of the vocabulary is one token. */

import { writeMessage } from "../../common/text/toolCalls.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import type { Message, StopReason } from "../../core/types.ts";

/** Structural tokens, which the policy never writes; the end token follows them. */
const structure = ["<pad>", "<system>", "<user>", "<assistant>", "<tool>"] as const;
const endToken = "<end>";

/** Words are separated by spaces; a line break is a word of its own. */
export const wordsOf = (text: string): string[] => text.match(/\n|[^\s]+/g) ?? [];

export interface WordCodec extends Codec {
  /** First id that a policy may write. The end token and the words have ids from here. */
  readonly writable: number;
  readonly words: readonly string[];
  /** A token as it is written: a word, or a marker in angle brackets. */
  nameOf(id: number): string;
  /** Start of the last message that the policy did not write; 0 if there is none. */
  lastMessage(tokens: Int32Array): number;
}

/**
 * @param words distinct words; ids are given in their order.
 * Decoding joins words by one space, and line breaks stand alone, so runs of blanks are lost.
 */
export function wordCodec(words: readonly string[]): WordCodec {
  const names = [...structure, endToken, ...words];
  const ids = new Map(names.map((name, id) => [name, id]));
  const endId = structure.length;
  const idOf = (name: string): number => {
    const id = ids.get(name);
    if (id !== undefined) return id;
    throw new WhetstoneError("tokenizer.unknownToken", {
      where: "tabular codec",
      got: `the word "${name}"`,
      expected: `one of the ${words.length} words of the vocabulary`,
      fix: "List every word that can occur in the environment's vocabulary.",
    });
  };
  const encode = (text: string): number[] => wordsOf(text).map(idOf);
  const said = (messages: readonly Message[]): number[] =>
    messages.flatMap((m) => [idOf(`<${m.role}>`), ...encode(writeMessage(m)), endId]);
  const reply = idOf("<assistant>");
  return {
    vocabulary: names.length,
    padId: 0,
    endId,
    writable: endId,
    words,
    nameOf: (id) => names[id] ?? "",
    lastMessage: (tokens) =>
      Math.max(
        0,
        tokens.findLastIndex((id) => id > 0 && id < endId && id !== reply),
      ),
    encode: (text) => Int32Array.from(encode(text)),
    decode: (tokens) => {
      let text = "";
      for (const id of tokens) {
        if (id <= endId) continue;
        const word = names[id] ?? "";
        text += text === "" || text.endsWith("\n") || word === "\n" ? word : ` ${word}`;
      }
      return text;
    },
    open: (messages) => Int32Array.from([...said(messages), reply]),
    extend: (stop: StopReason, messages) =>
      Int32Array.from([...(stop === "eos" ? [] : [endId]), ...said(messages), reply]),
  };
}

/** The codec of a vocabulary: its words, sorted. */
export function vocabularyCodec(vocabulary: readonly string[]): WordCodec {
  return wordCodec([...new Set(vocabulary.flatMap(wordsOf))].sort());
}
