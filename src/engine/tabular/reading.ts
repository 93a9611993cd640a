/** In-context reading, which a table of separate contexts cannot learn and is therefore defined by hand. */
import type { WordCodec } from "./codec.ts";

/** Messages that change the logits without being part of the context, so that learning with and without them is shared. */
export interface Reading {
  /** Whether a message that the policy did not write is read this way, given its text. */
  readonly isRead: (message: string) => boolean;
  /** Whether a message with a reply is read together with it, as the example "the message → the reply". Default: never. */
  readonly replied?: (message: string) => boolean;
  /**
   * Added to the logit of `word` after `reply`, its words so far, for the messages read, in their order. Never trained.
   * @param context the rest of the table's context, in words: a message may apply to a single context.
   */
  readonly shift: (
    told: readonly string[],
    reply: readonly string[],
    word: string,
    context: readonly string[],
  ) => number;
}

/** A prefix without the messages that are read, and those messages. */
export interface Split {
  readonly kept: Int32Array;
  readonly messages: readonly string[];
  /** Words of the reply so far. */
  readonly reply: readonly string[];
}

/** Separates the messages that are read from a prefix. */
export function splitPrefix(
  prefix: Int32Array,
  codec: WordCodec,
  { isRead: told, replied = () => false }: Pick<Reading, "isRead" | "replied">,
): Split {
  const isMarker = (id: number): boolean => id > 0 && id < codec.endId;
  const starts = [...prefix.keys()].filter((i) => isMarker(prefix[i]!));
  const heard: string[] = [];
  const kept: number[] = [...prefix.subarray(0, starts[0] ?? prefix.length)];
  const messages = starts.map((from, m) => {
    const tokens = prefix.subarray(from, starts[m + 1] ?? prefix.length);
    const own = codec.nameOf(tokens[0]!) === "<assistant>";
    return { tokens, own, text: codec.decode(tokens.subarray(1)) };
  });
  for (let m = 0; m < messages.length; m++) {
    const { tokens, own, text } = messages[m]!;
    const next = messages[m + 1];
    // the last message is the reply in progress
    if (!own && next?.own && m + 2 < messages.length && replied(text)) {
      heard.push(`${text} → ${next.text}`);
      m++;
    } else if (!own && told(text)) heard.push(text);
    else kept.push(...tokens);
  }
  const reply = prefix.subarray((starts.at(-1) ?? -1) + 1);
  return {
    kept: Int32Array.from(kept),
    messages: heard,
    reply: Array.from(reply, (id) => codec.nameOf(id)),
  };
}
