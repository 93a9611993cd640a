/** What people said that speaks for telling an agent something else: what whoever rewrites instructions reads. */
import type { Origins } from "../../core/artefact.ts";
import type { Id, Message } from "../../core/types.ts";

export interface Hint {
  readonly id: Id;
  readonly kind: "correction" | "preference" | "comment" | "reaction";
  /** What was asked, and what was replied to it. */
  readonly prompt: readonly Message[];
  readonly reply: string;
  /** What was said of the reply: the right one, the better one, the comment, or "good" or "bad". */
  readonly said: string;
  readonly origins: Origins;
}

/** A hint as somebody reads it who is to draw a conclusion from it. */
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
