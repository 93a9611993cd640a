/** What a turn adds to what was read before it. */

import type { Message } from "../../../src/core/types.ts";
import type { TurnBody } from "../../../src/serve/records.ts";

/**
 * The messages that are new with a turn, without the reply before them where the agent's next prompt only repeats it. Where
 * there were several replies it says which one the conversation went on from, and is kept.
 */
export function newMessages(
  { messages }: Pick<TurnBody, "messages">,
  before: Pick<TurnBody, "choices"> | undefined,
): readonly Message[] {
  const [first] = messages;
  const only = before?.choices.length === 1 ? before.choices[0]?.message : undefined;
  return first && only && isSame(first, only) ? messages.slice(1) : messages;
}

const isSame = (a: Message, b: Message): boolean =>
  a.role === b.role && a.content === b.content && callsOf(a) === callsOf(b);

const callsOf = ({ toolCalls = [] }: Message): string =>
  JSON.stringify(toolCalls.map(({ id, name, arguments: given }) => [id, name, given]));
