/** Training examples of other tools: chosen replies without a session. Ids derive from the contents. */
import { createHash } from "node:crypto";
import { keyOf } from "../../common/text/toolCalls.ts";
import type { ServedChoice } from "../../core/served.ts";
import type { Id, Message } from "../../core/types.ts";
import { type Entry, feedback } from "./entry.ts";

const hashOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);

const choiceOf = (message: Message): ServedChoice => ({ message, stop: "eos" });

/** A call with these replies, in its own session by default. */
export function example(
  prompt: readonly Message[],
  replies: readonly Message[],
  source: string,
  of: { readonly session?: Id; readonly model?: string; readonly at?: number } = {},
): Extract<Entry, { kind: "response" }> {
  const id = `${source}:${hashOf(...prompt.map(keyOf), ...replies.map(keyOf))}`;
  return {
    kind: "response",
    draft: {
      id,
      session: of.session ?? id,
      at: of.at ?? 0,
      ms: 0,
      model: of.model ?? "",
      settings: {},
      prompt,
      choices: replies.map(choiceOf),
      status: "complete",
      tags: {},
    },
  };
}

/**
 * Every reply of a conversation that counts, as a call of one session with a demonstration signal.
 * @param from index of the first message that may be learnt; earlier ones are prompt.
 */
export function demonstrations(
  messages: readonly Message[],
  source: string,
  from = 0,
  counts: (place: number) => boolean = () => true,
): readonly Entry[] {
  const session = `${source}:${hashOf(...messages.map(keyOf))}`;
  return messages.flatMap((message, i): readonly Entry[] => {
    if (message.role !== "assistant" || i < from) return [];
    // one millisecond apart, so that their order is known
    const call = example(messages.slice(0, i), [message], source, { session, at: i });
    const { id } = call.draft;
    if (!counts(i)) return [call];
    const shown = feedback({
      id: `${id}/demonstration`,
      kind: "demonstration",
      channel: "demonstration",
      about: [{ response: id }],
      source,
      at: i,
      text: message.content,
    });
    return [call, shown];
  });
}

/**
 * Every reply of a conversation, as a call of one session, with one reward for the session. Conversations with equal
 * contents are one session, unless they have ids.
 */
export function rewarded(
  messages: readonly Message[],
  reward: number,
  source: string,
  id: Id = hashOf(...messages.map(keyOf)),
): readonly Entry[] {
  const session = `${source}:${id}`;
  const calls = messages.flatMap((message, at): readonly Entry[] => {
    if (message.role !== "assistant") return [];
    const call = example(messages.slice(0, at), [message], source, { session, at });
    return [{ ...call, draft: { ...call.draft, id: `${session}/${at}` } }];
  });
  const paid = { id: `${session}/reward`, kind: "reward", channel: "reward", value: reward } as const;
  return calls.length === 0
    ? []
    : [...calls, feedback({ ...paid, about: [{ session }], source, at: messages.length })];
}

/** Two replies to one prompt; the first is preferred. */
export function preference(
  prompt: readonly Message[],
  chosen: Message,
  rejected: Message,
  source: string,
): readonly Entry[] {
  const call = example(prompt, [chosen, rejected], source);
  const { id } = call.draft;
  const about = [
    { response: id, choice: 0 },
    { response: id, choice: 1 },
  ];
  return [
    call,
    feedback({
      id: `${id}/preference`,
      kind: "preference",
      channel: "preference",
      about,
      best: 0,
      source,
      at: 0,
    }),
  ];
}

/** One reply labelled good or bad. */
export function judged(
  prompt: readonly Message[],
  reply: Message,
  good: boolean,
  source: string,
): readonly Entry[] {
  const call = example(prompt, [reply], source);
  const { id } = call.draft;
  return [
    call,
    feedback({
      id: `${id}/${good ? "up" : "down"}`,
      kind: "reaction",
      channel: "label",
      about: [{ response: id }],
      source,
      at: 0,
      text: good ? "thumbs_up" : "thumbs_down",
      value: Number(good),
    }),
  ];
}
