/** Digests of conversations, which depend on the messages only. */
import { hash } from "node:crypto";
import { type Interruptible, inSlices } from "../../common/files/slices.ts";
import { keyOf, onlyOffers } from "../../common/text/toolCalls.ts";
import type { Message } from "../../core/types.ts";

/** Digests of a conversation's prefixes. */
export interface Path {
  readonly tools: string;
  /** Digest of the conversation up to and including each message. */
  readonly upTo: readonly string[];
  /** Digest up to and including the first message that is not a system message. */
  readonly root: string;
}

/** Computes the digests; a long conversation takes several turns of the event loop. @param next extends a digest by one message. */
export function pathOf(prompt: readonly Message[], next = step): Promise<Path> {
  return inSlices(digests(prompt, next));
}

function* digests(prompt: readonly Message[], next: typeof step): Interruptible<Path> {
  const said = prompt.filter((message) => !onlyOffers(message));
  const upTo: string[] = [];
  for (const message of said) {
    upTo.push(next(upTo.at(-1) ?? "", message));
    yield;
  }
  const first = said.findIndex(({ role }) => role !== "system");
  return {
    tools: hash("sha1", JSON.stringify(prompt.flatMap(({ tools = [] }) => tools)), "base64"),
    upTo,
    root: upTo[first] ?? upTo.at(-1) ?? "",
  };
}

/** Extends a digest by one message. */
export function step(before: string, { tools: _, ...message }: Message): string {
  return hash("sha1", `${before}${keyOf(message)}`, "base64");
}

const stepped = new WeakMap<Message, { readonly before: string; readonly digest: string }>();

/** The same, cached by message object. The store shares objects between prompts, so a long session costs linear, not quadratic time. */
export function stepOnce(before: string, message: Message): string {
  const known = stepped.get(message);
  if (known?.before === before) return known.digest;
  const digest = step(before, message);
  stepped.set(message, { before, digest });
  return digest;
}
