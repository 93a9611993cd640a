/** `whetstone methods`: ways to learn. */
import type { Command } from "commander";
import { unknownName } from "../core/suggest.ts";
import { methods, type Recipe } from "../method/index.ts";
import { addCommand, type Io, table } from "./output.ts";

const baseline = "grpo";

export function addMethods(program: Command, io: Io): void {
  addCommand(program, "methods", "List and search the methods.", [
    "whetstone methods",
    "whetstone methods baseline",
    "whetstone methods --json",
  ])
    .argument("[query]", "words to look for in names and summaries")
    .option("--family <name>", "only this family")
    .action((query: string | undefined, { family }: { family?: string }) => {
      const families = [...new Set(methods.map((m) => m.family))];
      if (family !== undefined && !families.includes(family)) throw unknownName("--family", family, families);
      const inFamily = methods.filter((m) => family === undefined || m.family === family);
      const found = query === undefined ? inFamily : inFamily.filter((m) => speaksOf(m, query));
      if (query !== undefined && found.length === 0) {
        throw unknownName(
          "methods",
          query,
          inFamily.map((m) => m.id),
        );
      }
      for (const m of found) {
        io.record({
          id: m.id,
          family: m.family,
          summary: m.summary,
          slots: m.differs,
          needs: m.needs,
          baseline,
          verdict: null,
          effect: null,
          interval: null,
        });
      }
      const rows = found.map((m) => [m.id, m.family, m.differs.join(", ") || "–", m.summary]);
      io.say(...table(["id", "family", `differs from ${baseline} in`, "what it does"], rows));
    });
}

function speaksOf(m: Recipe, query: string): boolean {
  const text = `${m.id} ${m.family} ${m.summary} ${m.paper ?? ""}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
