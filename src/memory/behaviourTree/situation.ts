/** How a world tells programs what they see: clauses of text, parted by semicolons. */
import type { Situation, Status } from "./tree.ts";

/** What one observation says. */
export interface Seen extends Situation {
  /** What the skill of the turn before lacked, where it failed for want of it: "thief-beside", "not tired". */
  readonly lacks?: string;
}

const statuses: readonly Status[] = ["success", "failure", "running"];

/**
 * Reads `<skill> : <status> ; lacks <fact> ; facts : <fact> <fact>…`, in any order; clauses of any other form say nothing.
 * @example readSituation("grab : failure ; lacks has-net ; facts : tired") // { facts: {tired}, last: "failure", lacks: "has-net" }
 */
export function readSituation(text: string): Seen {
  let seen: Seen = { facts: new Set() };
  for (const clause of text.split(";")) {
    const [, subject = "", rest = ""] = /^(\S+)\s+:?(.*)$/s.exec(clause.trim()) ?? [];
    const said = rest.trim();
    const status = statuses.find((one) => one === said);
    if (subject === "facts") seen = { ...seen, facts: new Set(said.split(/\s+/).filter((f) => f !== "")) };
    else if (subject === "lacks") seen = { ...seen, lacks: said };
    else if (status) seen = { ...seen, last: status };
  }
  return seen;
}
