/** A conversation's system message, and the tools that it declares. */
import type { Message, Tool } from "../../core/types.ts";

/** Changes the conversation's system message; starts from an empty one where there is none. */
export function withSystem(
  messages: readonly Message[],
  change: (first: Message) => Message,
): readonly Message[] {
  const [first, ...rest] = messages;
  return first?.role === "system"
    ? [change(first), ...rest]
    : [change({ role: "system", content: "" }), ...messages];
}

/** Attaches tools to the conversation's system message, or to an empty one that is added. */
export const withTools = (messages: readonly Message[], tools: readonly Tool[]): readonly Message[] =>
  tools.length === 0 ? messages : withSystem(messages, (first) => ({ ...first, tools }));
