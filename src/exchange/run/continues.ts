import type { Message, Turn } from "../../core/types.ts";

/** Whether a turn's prompt starts with the previous one, word for word. The reply follows, possibly reworded. */
export function continues({ prompt }: Turn, turn: Turn): boolean {
  const next = turn.prompt;
  // turns of one episode share their messages
  const same = (m: Message, i: number): boolean =>
    m === next[i] || JSON.stringify(m) === JSON.stringify(next[i]);
  return next.length > prompt.length && prompt.every(same);
}
