/** In-context reading, which a table of separate contexts cannot learn: given instead. */
import type { WordCodec } from "./codec.ts";

/** Messages that move what a table says without being part of its context, so that what is learnt with and without them is shared. */
export interface Reading {
  /** Whether a message that the policy did not write, by its text, is read this way. */
  readonly told: (message: string) => boolean;
  /**
   * Added to the logit of `word` after `reply`, its words so far, for the messages told, in their order. Never learnt.
   * @param context what else the table goes by, in words: what was told may concern one place alone.
   */
  readonly shift: (
    told: readonly string[],
    reply: readonly string[],
    word: string,
    context: readonly string[],
  ) => number;
}

/** A prefix without the messages told, and these. */
export interface Split {
  readonly kept: Int32Array;
  readonly told: readonly string[];
  /** Words of the reply so far. */
  readonly reply: readonly string[];
}

/** Takes the messages that are told out of a prefix. */
export function splitPrefix(prefix: Int32Array, codec: WordCodec, told: Reading["told"]): Split {
  const isMarker = (id: number): boolean => id > 0 && id < codec.endId;
  const starts = [...prefix.keys()].filter((i) => isMarker(prefix[i]!));
  const heard: string[] = [];
  const kept: number[] = [...prefix.subarray(0, starts[0] ?? prefix.length)];
  starts.forEach((from, m) => {
    const message = prefix.subarray(from, starts[m + 1] ?? prefix.length);
    const text = codec.decode(message.subarray(1));
    if (codec.nameOf(message[0]!) !== "<assistant>" && told(text)) heard.push(text);
    else kept.push(...message);
  });
  const reply = prefix.subarray((starts.at(-1) ?? -1) + 1);
  return {
    kept: Int32Array.from(kept),
    told: heard,
    reply: Array.from(reply, (id) => codec.nameOf(id)),
  };
}
