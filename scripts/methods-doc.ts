/**
 * Writes docs/methods.md from the catalogue and the evidence. `--check` writes nothing and fails if the page is out of
 * date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { baselineOf, type CatalogueEntry, slotsOf } from "../src/method/entry.ts";
import { catalogue } from "../src/methods/catalogue.ts";
import { readEvidence, type StoredEvidence } from "../src/methods/evidence.ts";

const target = join(import.meta.dirname, "..", "docs", "methods.md");

/** Three significant digits, with a sign. */
const signed = (x: number): string => `${x > 0 ? "+" : ""}${Number(x.toPrecision(3))}`;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function row(m: CatalogueEntry, e: StoredEvidence | undefined): string {
  const against = baselineOf(m) ?? `none: a ${m.kind}`;
  const measured = e
    ? [
        e.verdict,
        `${signed(e.effect)} [${signed(e.interval.low)}, ${signed(e.interval.high)}]`,
        `${e.metric} (${e.direction} is better)`,
        String(e.seeds.length),
        String(e.attempts),
      ]
    : ["not run", "", "", "", ""];
  const id = `[\`${m.id}\`](../src/methods/${m.family}/${m.id}/method.ts)`;
  const cells = [id, m.summary, slotsOf(m).join(", "), against, ...measured];
  return `| ${cells.map(cell).join(" | ")} |`;
}

function page(): string {
  const judged = catalogue.filter((m) => m.family !== "baseline");
  const evidence = new Map(catalogue.map((m) => [m.id, readEvidence(m.id)]));
  const count = (verdict: StoredEvidence["verdict"]): number =>
    judged.filter((m) => evidence.get(m.id)?.verdict === verdict).length;
  const open = judged.filter((m) => !evidence.get(m.id)).length;
  const share = judged.length === 0 ? 0 : Math.round((100 * count("reproduced")) / judged.length);
  const lines = [
    `**${count("reproduced")} of ${judged.length} methods (${share} %) reproduced their claim at this size**; ${count("not reproduced")} did not, ${count("inconclusive")} are inconclusive, ${open} were not run.`,
    "",
    "# Methods and their evidence",
    "",
    "Written by `node scripts/methods-doc.ts` from the methods' folders; do not edit. Each check is one small",
    "experiment, committed before it was run: method against baseline at equal budgets, grids of equal size chosen on other",
    "seeds, a verdict from the paired 97.5 % t interval at 8 seeds or, if undecided, at 20. *Attempts* counts edits of a check",
    "after its first evidence. `npx whetstone explain ID` shows mechanism, mathematics and evidence of one.",
  ];
  for (const family of [...new Set(catalogue.map((m) => m.family))]) {
    const members = catalogue.filter((m) => m.family === family);
    lines.push("", `## ${family}`, "");
    if (family === "baseline") {
      lines.push("What others are measured against; only some are checked themselves.", "");
    }
    lines.push(
      "| method | what it does | differs in | against | verdict | effect | metric | seeds | attempts |",
    );
    lines.push("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const m of members) lines.push(row(m, evidence.get(m.id)));
    const notes = members.flatMap((m) => {
      const e = evidence.get(m.id);
      return e?.notes && e.verdict !== "reproduced" ? [`- **${m.id}** (${e.verdict}): ${e.notes}`] : [];
    });
    if (notes.length > 0) lines.push("", "What was tried where the claim did not show:", "", ...notes);
  }
  return `${lines.join("\n")}\n`;
}

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== page()) {
    console.error("docs/methods.md is out of date. Run node scripts/methods-doc.ts.");
    process.exitCode = 1;
  }
} else writeFileSync(target, page());
