/** An episode in words, for those who read it. */
import type { Trajectory } from "../../core/types.ts";

/** What was said to the agent and what it did, turn by turn. */
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

/** The same without system messages: what an agent is told in every episode alike. */
export const transcriptUntold = ({ turns }: Pick<Trajectory, "turns">): string =>
  transcript({
    turns: turns.map((turn) => ({ ...turn, prompt: turn.prompt.filter(({ role }) => role !== "system") })),
  });
