/** Conversations as digests: what is said, and nothing else, tells them apart. */
import { hash } from "node:crypto";
import { type Interruptible, inSlices } from "../../common/files/slices.ts";
import { keyOf, onlyOffers } from "../../common/text/toolCalls.ts";
import type { Message } from "../../core/types.ts";

/** A conversation as digests. */
export interface Path {
  readonly tools: string;
  /** Of the conversation up to each message, that one included. */
  readonly upTo: readonly string[];
  /** Of it up to the first message that is not the system's. */
  readonly root: string;
}

/** A long one takes several turns of the event loop. @param next of a conversation with one more message. */
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

/** Of a conversation with one more message. */
export function step(before: string, { tools: _, ...message }: Message): string {
  return hash("sha1", `${before}${keyOf(message)}`, "base64");
}

const stepped = new WeakMap<Message, { readonly before: string; readonly digest: string }>();

/** The same, for messages that the next prompt shares, as the store reads them: a long session costs its length, not its square. */
export function stepOnce(before: string, message: Message): string {
  const known = stepped.get(message);
  if (known?.before === before) return known.digest;
  const digest = step(before, message);
  stepped.set(message, { before, digest });
  return digest;
}
