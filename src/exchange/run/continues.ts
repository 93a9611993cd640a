import type { Turn } from "../../core/types.ts";

/** Whether a turn's prompt starts with the previous one, word for word. The reply follows, possibly reworded. */
export const continues = ({ prompt }: Turn, turn: Turn): boolean =>
  turn.prompt.length > prompt.length &&
  prompt.every((message, i) => JSON.stringify(message) === JSON.stringify(turn.prompt[i]));
