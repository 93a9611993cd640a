/** Transcripts of episodes. */
import type { Message, Trajectory } from "../../core/types.ts";

/** The messages of a prompt after those, by content, that were read before. */
export function newMessages(prompt: readonly Message[], read: readonly Message[]): readonly Message[] {
  const most = Math.min(prompt.length, read.length);
  let same = 0;
  while (same < most && prompt[same]!.content === read[same]!.content) same++;
  return prompt.slice(same);
}

/** The messages to the agent and its actions, turn by turn. */
export function transcript({ turns }: Pick<Trajectory, "turns">): string {
  let known = 0;
  return turns
    .map((turn, k) => {
      const heard = turn.prompt.slice(known).map((m) => `${m.role}: ${m.content}`);
      known = turn.prompt.length + 1;
      return [...heard, `turn ${k + 1}, agent: ${turn.action.content}`].join("\n");
    })
    .join("\n");
}

/** The same without system messages, which are equal in every episode. */
export const transcriptWithoutSystem = ({ turns }: Pick<Trajectory, "turns">): string =>
  transcript({
    turns: turns.map((turn) => ({ ...turn, prompt: turn.prompt.filter(({ role }) => role !== "system") })),
  });
