import type { Trajectory } from "../../../core/types.ts";

/** What an agent hands in: which observations are to prove what it says. */
export interface Submission {
  /** Its last action, with the message. */
  readonly message: string;
  /** The chosen observations, in the order in which they are named. */
  readonly shown: readonly string[];
}

/**
 * Reads `submit 1 3`, with anything after the numbers as the message: observation k is what the environment showed after action k, from 1.
 * Undefined where the episode does not end in exactly one submission, or names an observation twice, or one that does not exist: what
 * the submission itself led to is none.
 */
export function submissionOf({ turns, end }: Trajectory): Submission | undefined {
  const actions = turns.map(({ action }) => action.content.trim());
  const message = actions.at(-1) ?? "";
  const calls = actions.filter((action) => /^submit\b/.test(action));
  if (end.kind !== "done" || calls.length !== 1 || !/^submit\b/.test(message)) return undefined;
  const [named = ""] = /^(?:\s*\d+)+/.exec(message.slice("submit".length)) ?? [];
  const numbers = named
    .split(/\s+/)
    .filter((word) => word !== "")
    .map(Number);
  const observed = observationsOf(turns);
  if (new Set(numbers).size < numbers.length || numbers.some((k) => k < 1 || k > observed.length))
    return undefined;
  return { message, shown: numbers.map((k) => observed[k - 1]!) };
}

/** What the environment showed after each action but the last, as it wrote it. */
export function observationsOf(turns: Trajectory["turns"]): readonly string[] {
  return turns.slice(1).map(({ prompt }, k) => {
    const before = turns[k]!.prompt.length;
    return prompt
      .slice(before)
      .filter(({ role }) => role !== "assistant")
      .map(({ content }) => content)
      .join("\n");
  });
}
