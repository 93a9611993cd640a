import type { Turn } from "../../core/types.ts";

/** Whether a turn's prompt is the one before, word for word, and more. Its reply stands next, perhaps in other words. */
export const continues = ({ prompt }: Turn, turn: Turn): boolean =>
  turn.prompt.length > prompt.length &&
  prompt.every((message, i) => JSON.stringify(message) === JSON.stringify(turn.prompt[i]));
