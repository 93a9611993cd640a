/** User feedback that suggests a change of an agent's instructions. Instruction rewriters read it. */
import type { Origins } from "../../core/artefact.ts";
import type { Id, Message } from "../../core/types.ts";

/** One piece of feedback on a reply, together with the prompt that the reply answered. */
export interface Hint {
  readonly id: Id;
  readonly kind: "correction" | "preference" | "comment" | "reaction";
  /** The prompt, and the reply to it. */
  readonly prompt: readonly Message[];
  readonly reply: string;
  /** The feedback on the reply: the correct reply, a better reply, a comment, or "good" or "bad". */
  readonly said: string;
  readonly origins: Origins;
}

/** A hint as text for a prompt. */
export function sayHint({ kind, prompt, reply, said }: Hint): string {
  const asked = prompt
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => `${role}: ${content}`);
  return [...asked, `agent: ${reply}`, `${sayings[kind]}: ${said}`].join("\n");
}

const sayings: Readonly<Record<Hint["kind"], string>> = {
  correction: "The right reply",
  preference: "A better reply",
  comment: "What was said of it",
  reaction: "It was found",
};
