/**
 * Writes docs/methods.md from the catalogue, the evidence, the benches and the arenas, and collects the latter two for
 * `whetstone explain`. `--check` writes nothing and fails if one of the two files is out of date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { checkFiles, designIn } from "../src/cli/checkFiles.ts";
import { readLog } from "../src/cli/checkProtocol.ts";
import { duration } from "../src/cli/output.ts";
import { type CatalogueEntry, slotsOf } from "../src/method/entry.ts";
import {
  type BenchResult,
  benchSentences,
  points,
  standingOf,
  standings,
} from "../src/methods/benchResults.ts";
import { catalogue } from "../src/methods/catalogue.ts";
import { readEvidence, type StoredEvidence } from "../src/methods/evidence.ts";
import { paperFolder } from "../src/methods/folders.ts";
import { caveatsOf, conditionsOf, interval, isEqualBySeed, opponentsOf } from "../src/methods/opponents.ts";
import { type Check, levels } from "../src/train/check.ts";
import { asLines, collected } from "./benchResults.ts";

const root = join(import.meta.dirname, "..");
const target = join(root, "docs", "methods.md");
const benchFile = join(root, "src", "methods", "benchResults.data.json");

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** Everything that the page is made from. */
interface Known {
  readonly evidence: ReadonlyMap<string, StoredEvidence | undefined>;
  readonly checks: ReadonlyMap<string, Check | undefined>;
  readonly benches: readonly BenchResult[];
}

async function known(): Promise<Known> {
  const checks = checkFiles().map(async ({ id, file }) => [id, await designIn(file)] as const);
  return {
    evidence: new Map(catalogue.map((m) => [m.id, readEvidence(m.id)])),
    checks: new Map(await Promise.all(checks)),
    benches: (await collected()).filter(({ method }) => catalogue.some(({ id }) => id === method)),
  };
}

const isArena = ({ page }: BenchResult): boolean => page === leaderboard;
const leaderboard = "docs/leaderboard.md";

function row(m: CatalogueEntry, { evidence, benches }: Known): string {
  const e = evidence.get(m.id);
  const id = `[\`${m.id}\`](../src/methods/${m.family}/${m.id}/method.ts)`;
  const own = e ? measured(e) : ["not run", ...head.slice(4, -1).map(() => "")];
  const inArenas = benches
    .filter((result) => result.method === m.id && isArena(result))
    .map(({ bench, effect }) => `${bench.replace("arena ", "")}: ${points(effect)}`);
  return `| ${[id, m.summary, slotsOf(m).join(", "), ...own, inArenas.join("; ")].map(cell).join(" | ")} |`;
}

function measured(e: StoredEvidence): readonly string[] {
  const { baseline, simpler, ingredient } = opponentsOf(e);
  return [
    baseline.what,
    isEqualBySeed(e) ? "equal" : verdicts[e.verdict],
    `${interval({ ...e.interval, mean: e.effect })} ${e.metric}${e.direction === "lower" ? " (lower is better)" : ""}`,
    simpler ? `${ingredient}: ${interval(simpler.lead)} ahead of "${simpler.what}"` : ingredient,
    e.level,
    String(e.seeds.length),
    String(e.attempts),
  ];
}

/** The first verdict, in the words of the table: does the method beat the arm that ran against it? */
const verdicts = { reproduced: "yes", inconclusive: "inconclusive", "not reproduced": "no" } as const;

const head =
  "method|what it does|differs in|opponent that ran|beats it|effect|ingredient|level|seeds|attempts|arenas: minus GRPO, points".split(
    "|",
  );

/** How many of each level beat their opponent, and of how many the ingredient is shown to matter; what arenas found. */
function counts(judged: readonly StoredEvidence[], benches: readonly BenchResult[]): string {
  const checked = levels
    .filter((level) => level !== "neural" && level !== "real")
    .map((level) => {
      const here = judged.filter((e) => e.level === level);
      const won = here.filter((e) => e.verdict === "reproduced");
      const asked = here.filter((e) => e.simpler !== undefined);
      const matters = asked.filter((e) => opponentsOf(e).ingredient === "matters");
      return here.length === 0
        ? `${level}: none`
        : `${level}: ${won.length} of ${here.length} beat their opponent, the ingredient matters in ${matters.length} of ${asked.length} asked`;
    });
  const outside = [
    against("neural", benches.filter(isArena)),
    against(
      "real",
      benches.filter(({ level }) => level === "real"),
    ),
  ];
  return `**${[...checked, ...outside].join("; ")}.** Diagnostics and benchmarks are not counted, and baselines only as neural and real.`;
}

/** What transformers found: small ones in arenas, pretrained ones in comparisons. */
function against(level: string, results: readonly BenchResult[]): string {
  const arenas = [...Map.groupBy(results, ({ bench }) => bench)].map(([bench, found]) => {
    const of = standings.toReversed().map((standing) => {
      const here = found.filter((result) => standingOf(result) === standing);
      const named =
        standing === "ahead" && here.length > 0
          ? ` (${here.map(({ method, asked }) => (asked ? `${method} with ${asked.replaceAll(/[\d,.]+ /g, "")}` : method)).join(", ")})`
          : "";
      return `${here.length} ${standing}${named}`;
    });
    return `${bench}, ${found.length} methods: ${of.join(", ")}`;
  });
  const opponent = level === "neural" ? "tuned GRPO" : "GRPO";
  return arenas.length === 0 ? `${level}: none` : `${level}, against ${opponent}: ${arenas.join("; ")}`;
}

const introduction = (found: readonly StoredEvidence[], judged: number): readonly string[] => [
  `${found.length} of ${judged} methods have been checked. Written by \`node scripts/methods-doc.ts\` from the methods' folders; do`,
  "not edit. Each check is one small experiment, committed before it was run: method against one opponent, settings chosen on other",
  "seeds from grids of equal size (both arms try as many choices; that does not make the grids equally fine, equally wide or equally",
  "well placed, and an arm with two settings tries fewer values of each), a verdict from the paired 97.5 % t interval at 8 seeds or, if undecided, at 20 (with half the error after each",
  "redesign on fresh seeds). *Beats it* says whether the method beats the opponent that ran (`equal`: the same value in every seed); *ingredient*, whether it beats the best arm that lacks what the method adds, by the same",
  "interval (positive: the method is better). *Level* says what the experiment can convince of: `law` (mathematics or scripted",
  "players), `table` (a tabular policy in a world made for the method), `shared` (a tabular policy in a world that several checks use),",
  "`neural` (a transformer), `real` (a pretrained language model). *Attempts* counts the designs of a check that were looked at on reported seeds.",
  "*Arenas* is what the same transformer gains with the method over tuned GRPO in a frozen task, in points of held-out success with",
  "97.5 % intervals ([leaderboard.md](leaderboard.md)); empty where it has not been run.",
  `${found.filter(({ tuningSeeds = 5 }) => tuningSeeds < 5).length} of these checks chose their settings on fewer than the five seeds that new checks need.`,
  "",
  "Below each table, for each method: what benches and arenas found, the means of both arms, the settings that were chosen for them",
  "and among which, what a run cost, the further arms that do as well or better, what speaks against the row, what other",
  "seeds have found since, and what was tried before. `npx whetstone check ID` runs a check again, and `npx whetstone explain ID` shows mechanism, mathematics and all arms.",
];

/** What a reader has to know beside a row; undefined where there is nothing. */
function notes(m: CatalogueEntry, { evidence, checks, benches }: Known): string | undefined {
  const e = evidence.get(m.id);
  const results = benches.filter((result) => result.method === m.id);
  const link = (page: string, text: string): string => `[${text}](${pathFromDocs(page)})`;
  // the column says all there is of an arena where no check is
  const outside = benchSentences(e, e ? results : results.filter((result) => !isArena(result)), link);
  if (!e) return outside.length > 0 ? `- **${m.id}** (not run): ${outside.join(" ")}` : undefined;
  const said = [
    ...outside,
    ...conditionsOf(e, checks.get(m.id)),
    `The check took ${duration(e.seconds)}.`,
    ...caveatsOf(e, checks.get(m.id)),
    ...repeatsOf(e),
    ...(e.notes ? [e.notes] : []),
  ];
  return `- **${m.id}** (${e.verdict}): ${said.join(" ")}`;
}

/** What the check has found since on seeds that are not the reported ones. Evidence of a check that was changed is not kept. */
function repeatsOf({ id, seeds, effect }: StoredEvidence): readonly string[] {
  const folder = paperFolder(id);
  const ended = (folder ? readLog(folder.path) : []).filter(({ event }) => event === "end");
  // the first run that found what the evidence says: later ones of the same seeds are the same experiment
  const reported = ended.findIndex(
    (entry) => seeds.includes(entry.seed) && Math.abs((entry.effect ?? Number.NaN) - effect) < 1e-5,
  );
  return (reported < 0 ? [] : ended.slice(reported + 1)).flatMap(({ seed, verdict, interval: found }) =>
    verdict && found && !seeds.includes(seed)
      ? [`Once more, on ${found.n} seeds from ${seed}: ${verdict}, ${interval(found)}.`]
      : [],
  );
}

const pathFromDocs = (page: string): string =>
  page.startsWith("docs/") ? page.slice("docs/".length) : `../${page}`;

function page(of: Known): string {
  const judged = catalogue.filter((m) => m.family !== "baseline" && m.kind === "method");
  const found = judged.flatMap((m) => of.evidence.get(m.id) ?? []);
  const lines = [
    counts(found, of.benches),
    "",
    "# Methods and their evidence",
    "",
    ...introduction(found, judged.length),
  ];
  for (const family of [...new Set(catalogue.map((m) => m.family))]) {
    const members = catalogue.filter((m) => m.family === family);
    lines.push("", `## ${family}`, "");
    if (family === "baseline")
      lines.push("What others are measured against; only some are checked themselves.", "");
    lines.push(`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`);
    for (const m of members) lines.push(row(m, of));
    const said = members.flatMap((m) => notes(m, of) ?? []);
    if (said.length > 0) lines.push("", "Conditions and caveats:", "", ...said);
  }
  return `${lines.join("\n")}\n`;
}

const all = await known();
const files = [
  [target, page(all)],
  [benchFile, asLines(all.benches)],
] as const;
for (const [file, text] of files) {
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`${basename(file)} is out of date. Run node scripts/methods-doc.ts.`);
    process.exitCode = 1;
  }
}
