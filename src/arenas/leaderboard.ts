/** docs/leaderboard.md: every figure is computed anew from the arenas' raw runs. */
import { join } from "node:path";
import {
  mean,
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
  standardDeviation,
} from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import type { Arena, ArenaRun } from "./arena.ts";
import { readExcluded } from "./excluded.ts";
import { type ArenaResults, opponent, type ResultFiles, resultsIn, runsEqual } from "./results.ts";
import { type ArenaResult, askedFor, atEdge, testMean, untrained } from "./runs.ts";

/** Of the intervals, two-sided. */
export const confidence = 0.975;

/** The page of all arenas. */
export const leaderboardPage = join(import.meta.dirname, "..", "..", "docs", "leaderboard.md");

/** Paired difference of two methods on the same seeds, in shares of test tasks. */
export function pairedDifference(result: ArenaResult, against: ArenaResult): Interval {
  const values = (r: ArenaResult): number[] => r.runs.map(({ test }) => test);
  return pairedInterval(values(result), values(against), confidence);
}

/** What a method that is shown demonstrations has to be better than: imitation of demonstrations and nothing else. */
const imitation = "sft";

/** The runs of plain imitation beside those of a method that asked for demonstrations. */
export const imitationBeside = (
  result: ArenaResult,
  results: readonly ArenaResult[],
): ArenaResult | undefined =>
  result.method !== imitation && askedFor(result).includes("demonstrations")
    ? results.find(({ method }) => method === imitation)
    : undefined;

/** Of the ranges of seeds on which a method and the opponent ran, the results of the one with the method's smallest lead. */
export function smallestLead(
  method: string,
  { byBase }: Pick<ArenaResults, "byBase">,
):
  | { readonly own: ArenaResult; readonly lead: Interval; readonly results: readonly ArenaResult[] }
  | undefined {
  const ranges = [...byBase.values()].flatMap((results) => {
    const [own, against] = [method, opponent].map((id) => results.find((one) => one.method === id));
    return own && against ? [{ own, lead: pairedDifference(own, against), results }] : [];
  });
  return ranges.toSorted((a, b) => a.lead.mean - b.lead.mean)[0];
}

const percent = (x: number): string => (100 * x).toFixed(1);
const signed = (x: number): string => `${x > 0 ? "+" : ""}${percent(x)}`;
const between = ({ mean: m, low, high }: Interval, said = percent): string =>
  `${said(m)} [${said(low)}, ${said(high)}]`;

const bars = "▁▂▃▄▅▆▇█";
const block = (share: number): string => bars[Math.min(7, Math.floor(Math.max(0, share) * 8))] ?? "·";

/** Mean over seeds, an iteration a block. A method that counts no success has no curve. */
function curve({ runs }: ArenaResult): string {
  const length = Math.min(...runs.map((run) => run.curve.length));
  return Array.from({ length }, (_, i) => block(mean(runs.map((run) => run.curve[i]!)))).join("");
}

function row(result: ArenaResult, results: readonly ArenaResult[]): readonly string[] {
  const against = results.find(({ method }) => method === opponent)!;
  const start = results.find(({ method }) => method === untrained);
  const imitated = imitationBeside(result, results);
  const values = (r: ArenaResult): number[] => r.runs.map(({ test }) => test);
  const own = values(result);
  const average = (of: (run: ArenaRun) => number): number => mean(result.runs.map(of));
  const tuned = `${result.rate} of ${result.tried.length}${atEdge(result) ? " (edge)" : ""}`;
  const paired =
    result.method === opponent
      ? ["", ""]
      : runsEqual(result, against)
        ? ["equal, run by run", ""]
        : [
            between(pairedDifference(result, against), signed),
            probabilityOfImprovement(own, values(against)).toFixed(2),
          ];
  return [
    `\`${result.method}\``,
    "neural",
    between(meanInterval(own, confidence)),
    ...paired,
    start && result !== start ? between(pairedDifference(result, start), signed) : "",
    imitated ? between(pairedDifference(result, imitated), signed) : "",
    result.method === untrained ? "" : tuned,
    curve(result),
    Math.round(average((r) => r.episodes)).toLocaleString("en"),
    Math.round(average((r) => r.tokens)).toLocaleString("en"),
    askedFor(result),
    average((r) => r.seconds).toFixed(0),
  ];
}

const columns = [
  "method",
  "level",
  "test success, %",
  "minus GRPO, points",
  "P(better)",
  "minus start",
  "minus `sft`",
  "step size",
  "training",
  "episodes",
  "tokens",
  "asked for",
  "seconds",
];
const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  line(head),
  line(head.map(() => "---")),
  ...rows.map(line),
];

/** The page's text. */
export async function leaderboard(
  shown: readonly { readonly arena: Arena; readonly files: ResultFiles }[],
): Promise<string> {
  const sections: string[][] = [];
  const all: ArenaResults[] = [];
  for (const { arena, files } of shown) {
    const results = await resultsIn(arena, files);
    all.push(results);
    sections.push(section(results, files));
  }
  return `${["# Leaderboard", "", ...introduction, "", ...overview(all), ...sections.flat()].join("\n")}\n`;
}

const introduction = [
  "Generated by `whetstone arena NAME [METHOD…]` from the raw runs in `src/arenas/NAME/runs.jsonl`; do not edit. Each arena is described in `src/arenas/NAME/README.md`: a frozen task, in which all methods train the same small transformer from the same weights (level **neural**).",
  "",
  `A method keeps its own defaults, but for tasks, attempts and the step size, which is chosen by validation success on tuning seeds that are not reported: among the arena's step sizes and, as long as the best is the smallest or the largest that was tried, among further ones beyond it, at most three to either side ("0.0004 of 3": the best of three; "edge": the last of those was best). Reported are mean success on held-out tasks with a ${100 * confidence} % interval, the paired difference to tuned GRPO with a ${100 * confidence} % interval, and the probability that a run of the method beats a run of GRPO. Intervals are not corrected for the number of methods: among 40 methods that equal GRPO, one is expected to lie outside. All differences in an arena share the same runs of GRPO, so that they err together; its spread over 20 seeds stands below each table. "Equal, run by run": what the method adds to GRPO finds nothing here to act on.`,
  "",
  `Budgets are equal in iterations; episodes and tokens stand beside. "Asked for" is what a run asked of the environment beyond the rewards that GRPO gets, counted as it was asked: pairs to compare, critiques, actions of the expert as demonstrations. A method that asks for them learns from more than GRPO is given; where it is shown demonstrations, "minus \`sft\`" says whether it does better than imitating them and nothing else. Not counted are reference answers of training tasks, which \`igpo\`, \`a2tgpo\`, \`pbsd\` and \`int-intervention\` read, the verifier's delayed verdicts, which \`rlhs\` reads, and the flawed player, which \`lmrl-gym\` imitates. "Minus start" is the difference to the weights that all begin from: where its interval holds 0, nothing was learnt, be it that the arena pays no reward of the kind that the method reads (\`rluf\` and \`tscac\` in "orders"). Seconds are wall-clock on a shared machine.`,
];

/** The difference of each method in each arena; of several ranges of seeds the smallest. */
function overview(all: readonly ArenaResults[]): readonly string[] {
  const ids = new Set(all.flatMap(({ byBase }) => [...byBase.values()].flat().map(({ method }) => method)));
  ids.delete(untrained);
  if (ids.size === 0) return ["No whole set of runs yet.", ""];
  const cell = (id: string, all: ArenaResults): string => {
    const found = smallestLead(id, all);
    return found ? between(found.lead, signed) : "";
  };
  const baseline = ({ byBase }: ArenaResults): string =>
    [...byBase.values()]
      .flatMap((results) => results.filter(({ method }) => method === opponent))
      .map((own) => `${percent(testMean(own))} %`)
      .join(", ");
  return [
    `${ids.size} methods have all runs of the protocol in an arena. Test success of GRPO on each range of seeds, and the others' difference to it in points, of several ranges the smallest:`,
    "",
    ...table(
      ["method", ...all.map(({ arena }) => arena.name)],
      [
        [`\`${opponent}\``, ...all.map(baseline)],
        ...[...ids]
          .filter((id) => id !== opponent)
          .toSorted()
          .map((id) => [`\`${id}\``, ...all.map((results) => cell(id, results))]),
      ],
    ),
    "",
  ];
}

function section(
  { arena, digest, byBase, idle, leftOut, spread }: ArenaResults,
  files: ResultFiles,
): string[] {
  const head = [`## ${arena.name}: ${arena.summary}`, ""];
  const [base, results] = [...byBase][0] ?? [1, []];
  const against = results.find(({ method }) => method === opponent);
  if (!against) return [...head, "No whole set of runs of GRPO yet.", ""];
  const { iterations, tasks, groupSize } = arena.budget;
  const trained = results.filter(({ method }) => method !== untrained);
  const commits = [...new Set(results.flatMap(({ runs }) => runs.map(({ commit }) => commit)))].toSorted();
  const excluded = [
    ...readExcluded(files.excluded).map(({ method, why }) => {
      const found = leftOut.get(method);
      return {
        method,
        why:
          found === undefined ? why : `${why}. Run before that was a rule, it ended at ${percent(found)} %`,
      };
    }),
    ...idle.map((method) => ({
      method,
      why: "it finds nothing here to learn from: every run equals the start's",
    })),
  ];
  return [
    ...head,
    `${trained.length} methods, ${iterations} iterations of ${tasks} tasks × ${groupSize} attempts; step sizes ${arena.rates.join(", ")} and beyond, by ${arena.tuningSeeds} tuning seeds; reported seeds ${base} to ${base + arena.seeds - 1}. Arena digest \`${digest}\`; code of the reported runs: ${commits.map((c) => `\`${c}\``).join(", ")}.`,
    "",
    ...table(
      columns,
      results.map((result) => row(result, results)),
    ),
    "",
    `GRPO over ${spread.length} seeds: mean ${percent(mean(spread))} %, standard deviation ${percent(standardDeviation(spread))} points, from ${percent(Math.min(...spread))} % to ${percent(Math.max(...spread))} %.`,
    "",
    ...again(results, byBase, arena),
    `### Not in arena "${arena.name}"`,
    "",
    ...(excluded.length === 0
      ? ["None was tried."]
      : table(
          ["method", "why"],
          excluded.map(({ method, why }) => [`\`${method}\``, why.replaceAll("|", "\\|")]),
        )),
    "",
    "Methods in neither table have not been run here.",
    "",
  ];
}

/** The first five and the opponent once more, tuned and run on other seeds. */
function again(results: readonly ArenaResult[], byBase: ArenaResults["byBase"], arena: Arena): string[] {
  const names = results.flatMap(({ method }) => (method === untrained ? [] : [method]));
  const repeated = [...byBase.values()].slice(1).flatMap((of) => of.map(({ method }) => method));
  const shown = [...new Set([...names.slice(0, 5), ...repeated, opponent])].filter((id) => id !== untrained);
  if (byBase.size < 2) return [];
  const cell = (method: string, of: readonly ArenaResult[]): string => {
    const [own, against] = [method, opponent].map((name) => of.find((one) => one.method === name));
    if (!own || !against) return "";
    return own === against
      ? `${percent(mean(own.runs.map(({ test }) => test)))} %, step size ${own.rate}`
      : between(pairedDifference(own, against), signed);
  };
  return [
    `### The first five of "${arena.name}" on other seeds`,
    "",
    "Step sizes chosen again on other tuning seeds, other reported seeds (`--base-seed`). A lead that one of them does not show is no finding; rows of [methods.md](methods.md) tell the smallest.",
    "",
    ...table(
      ["method", ...[...byBase.keys()].map((base) => `from seed ${base}, minus GRPO`)],
      shown.map((method) => [`\`${method}\``, ...[...byBase.values()].map((of) => cell(method, of))]),
    ),
    "",
  ];
}
