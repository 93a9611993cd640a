/** Text format of observations for programs: clauses separated by semicolons. */
import type { Situation, Status } from "./tree.ts";

/** A parsed observation. */
export interface Seen extends Situation {
  /** The missing fact that made the previous turn's skill fail: "thief-beside", "not tired". */
  readonly lacks?: string;
}

const statuses: readonly Status[] = ["success", "failure", "running"];

/**
 * Parses `<skill> : <status> ; lacks <fact> ; facts : <fact> <fact>…`, in any order; other clauses are ignored.
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
