/**
 * Writes docs/methods.md from the catalogue and the evidence. `--check` writes nothing and fails if the page is out of
 * date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CatalogueEntry, slotsOf } from "../src/method/entry.ts";
import { catalogue } from "../src/methods/catalogue.ts";
import { readEvidence, type StoredEvidence } from "../src/methods/evidence.ts";
import { caveatsOf, opponentsOf } from "../src/methods/opponents.ts";
import { levels } from "../src/train/check.ts";

const target = join(import.meta.dirname, "..", "docs", "methods.md");

/** Three significant digits, with a sign. */
const signed = (x: number): string => `${x > 0 ? "+" : ""}${Number(x.toPrecision(3))}`;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function row(m: CatalogueEntry, e: StoredEvidence | undefined): string {
  const id = `[\`${m.id}\`](../src/methods/${m.family}/${m.id}/method.ts)`;
  return `| ${[id, m.summary, slotsOf(m).join(", "), ...(e ? measured(e) : ["not run"])].map(cell).join(" | ")} |`;
}

const interval = (effect: number, { low, high }: { readonly low: number; readonly high: number }): string =>
  `${signed(effect)} [${signed(low)}, ${signed(high)}]`;

function measured(e: StoredEvidence): readonly string[] {
  const { baseline, simpler, ingredient } = opponentsOf(e);
  return [
    baseline.what,
    verdicts[e.verdict],
    `${interval(e.effect, e.interval)} ${e.metric}${e.direction === "lower" ? " (lower is better)" : ""}`,
    simpler
      ? `${ingredient}: ${interval(simpler.lead.mean, simpler.lead)} ahead of "${simpler.what}"`
      : ingredient,
    e.level,
    String(e.seeds.length),
    String(e.attempts),
  ];
}

/** The first verdict, in the words of the table: does the method beat the arm that ran against it? */
const verdicts = { reproduced: "yes", inconclusive: "inconclusive", "not reproduced": "no" } as const;

const head =
  "method,what it does,differs in,opponent that ran,beats it,effect,ingredient,level,seeds,attempts".split(
    ",",
  );

/** How many of each level beat their opponent, and of how many the ingredient is shown to matter. */
function counts(judged: readonly StoredEvidence[]): string {
  const parts = levels.map((level) => {
    const here = judged.filter((e) => e.level === level);
    const won = here.filter((e) => e.verdict === "reproduced");
    const asked = here.filter((e) => e.simpler !== undefined);
    const matters = asked.filter((e) => opponentsOf(e).ingredient === "matters");
    return here.length === 0
      ? `${level}: none`
      : `${level}: ${won.length} of ${here.length} beat their opponent, the ingredient matters in ${matters.length} of ${asked.length} asked`;
  });
  return `**${parts.join("; ")}.** Diagnostics and benchmarks are not counted.`;
}

function page(): string {
  const judged = catalogue.filter((m) => m.family !== "baseline" && m.kind === "method");
  const evidence = new Map(catalogue.map((m) => [m.id, readEvidence(m.id)]));
  const found = judged.flatMap((m) => evidence.get(m.id) ?? []);
  const lines = [
    counts(found),
    "",
    "# Methods and their evidence",
    "",
    `${found.length} of ${judged.length} methods have been checked. Written by \`node scripts/methods-doc.ts\` from the methods' folders; do`,
    "not edit. Each check is one small experiment, committed before it was run: method against one opponent, grids of equal size",
    "chosen on other seeds, a verdict from the paired 97.5 % t interval at 8 seeds or, if undecided, at 20 (with half the error after each",
    "redesign on fresh seeds). *Beats it* says whether the",
    "method beats the opponent that ran; *ingredient*, whether it beats the best arm that lacks what the method adds, by the same",
    "interval (positive: the method is better). *Level* says what the experiment can convince of: `law` (mathematics or scripted",
    "players), `table` (a tabular policy in a world made for the method), `shared` (a tabular policy in a world that several checks use),",
    "`neural` (a transformer), `real` (a pretrained language model). *Attempts* counts edits of a check after its first evidence.",
    `${found.filter(({ tuningSeeds = 5 }) => tuningSeeds < 5).length} of these checks chose their settings on fewer than the five seeds that new checks need.`,
    "`npx whetstone explain ID` shows mechanism, mathematics, all arms with their settings, and the command that runs it again.",
  ];
  for (const family of [...new Set(catalogue.map((m) => m.family))]) {
    const members = catalogue.filter((m) => m.family === family);
    lines.push("", `## ${family}`, "");
    if (family === "baseline")
      lines.push("What others are measured against; only some are checked themselves.", "");
    lines.push(`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`);
    for (const m of members) lines.push(row(m, evidence.get(m.id)));
    const notes = members.flatMap((m) => {
      const e = evidence.get(m.id);
      const said = e ? [...caveatsOf(e), ...(e.notes ? [e.notes] : [])] : [];
      return e && said.length > 0 ? [`- **${m.id}** (${e.verdict}): ${said.join(" ")}`] : [];
    });
    if (notes.length > 0) lines.push("", "Caveats, and what was tried before:", "", ...notes);
  }
  return `${lines.join("\n")}\n`;
}

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== page()) {
    console.error("docs/methods.md is out of date. Run node scripts/methods-doc.ts.");
    process.exitCode = 1;
  }
} else writeFileSync(target, page());
