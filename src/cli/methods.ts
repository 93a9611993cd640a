/** `whetstone methods`: ways to learn. */
import type { Command } from "commander";
import { unknownName } from "../common/text/suggest.ts";
import { baselineOf, type CatalogueEntry, needsOf, slotsOf } from "../method/entry.ts";
import { slotNames } from "../method/method.ts";
import type { Found } from "../method/search.ts";
import { catalogue } from "../methods/catalogue.ts";
import { readEvidence } from "../methods/evidence.ts";
import { addCommand, type Io, number, roomOf, table } from "./output.ts";

interface MethodsOptions {
  readonly family?: string;
  readonly slot?: string;
  readonly need?: string;
  readonly verdict?: string;
}

/** What a check may have come to; "none" has no evidence. */
const verdicts = ["reproduced", "inconclusive", "not reproduced", "none"] as const;

export function addMethods(program: Command, io: Io): void {
  addCommand(program, "methods", "List and search the methods.", [
    "whetstone methods",
    'whetstone methods "my users give thumbs"',
    'whetstone methods "credit for turns without a critic"',
    "whetstone methods --family objective --verdict reproduced",
    "whetstone methods --slot advantage --json",
  ])
    .argument("[query]", "search terms, in your own words")
    .option("--family <name>", "only this family")
    .option("--slot <name>", `only methods that change this slot: ${slotNames.join(", ")}`)
    .option("--need <name>", "only methods that need this capability of the model, e.g. entropy")
    .option("--verdict <name>", `only methods whose check has this verdict: ${verdicts.join(", ")}`)
    .action(async (query: string | undefined, options: MethodsOptions) => {
      const chosen = filtered(options);
      if (query !== undefined) return sayFound(io, await search(query, chosen));
      for (const m of chosen) io.record(entryOf(m));
      const rows = chosen.map((m) => {
        const e = readEvidence(m.id);
        const effect = e ? `${e.effect > 0 ? "+" : ""}${number(e.effect)}` : "";
        return [m.id, m.summary, e?.verdict ?? "", effect, m.family, slotsOf(m).join(", ") || "–"];
      });
      const head = ["id", "what it does", "verdict", "effect", "family", "differs in"];
      io.say(...table(head, rows, roomOf(io)));
      io.say("", "Details of a method: whetstone explain ID");
    });
}

/** Results of a search, each with the reason in place of what the list without a query has. */
function sayFound(io: Io, found: readonly Found[]): void {
  for (const { entry, why } of found) io.record({ ...entryOf(entry), why });
  const rows = found.map(({ entry: m, why }) => [m.id, m.summary, why, readEvidence(m.id)?.verdict ?? ""]);
  io.say(...table(["id", "what it does", "found because it", "verdict"], rows, roomOf(io)));
  io.say("", "Details of a method: whetstone explain ID");
}

async function search(query: string, among: readonly CatalogueEntry[]): Promise<readonly Found[]> {
  const { searchCatalogue } = await import("../method/search.ts");
  const found = searchCatalogue(query, among);
  if (found.length > 0) return found;
  throw unknownName(
    "methods",
    query,
    among.map((m) => m.id),
  );
}

function filtered({ family, slot, need, verdict }: MethodsOptions): readonly CatalogueEntry[] {
  const known = (flag: string, name: string | undefined, names: readonly string[]): void => {
    if (name !== undefined && !names.includes(name)) throw unknownName(flag, name, names);
  };
  known("--family", family, [...new Set(catalogue.map((m) => m.family))]);
  known("--slot", slot, slotNames);
  known("--need", need, [...new Set(catalogue.flatMap(needsOf))]);
  known("--verdict", verdict, verdicts);
  return catalogue.filter(
    (m) =>
      (family === undefined || m.family === family) &&
      (slot === undefined || slotsOf(m).some((s) => s === slot)) &&
      (need === undefined || needsOf(m).some((n) => n === need)) &&
      (verdict === undefined || (readEvidence(m.id)?.verdict ?? "none") === verdict),
  );
}

/** A line of `methods --json`. */
function entryOf(m: CatalogueEntry): Readonly<Record<string, unknown>> {
  const e = readEvidence(m.id);
  return {
    id: m.id,
    kind: m.kind,
    family: m.family,
    summary: m.summary,
    paper: m.paper ?? null,
    slots: slotsOf(m),
    needs: needsOf(m),
    baseline: baselineOf(m) ?? null,
    verdict: e?.verdict ?? null,
    effect: e?.effect ?? null,
    interval: e ? { low: e.interval.low, high: e.interval.high, n: e.interval.n } : null,
  };
}
