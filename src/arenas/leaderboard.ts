/** docs/leaderboard.md: every figure is computed anew from an arena's raw runs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../common/files/files.ts";
import {
  mean,
  meanInterval,
  pairedInterval,
  probabilityOfImprovement,
  standardDeviation,
} from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import { fromExactJson } from "../core/json.ts";
import type { MakeRuns } from "../train/experiment.ts";
import { type Arena, type ArenaRun, arenaDigest } from "./arena.ts";
import { type Excluded, readExcluded } from "./excluded.ts";
import { type ArenaResult, arenaResult, runName, testMean, untrained } from "./runs.ts";

/** What every method is paired with. */
const opponent = "grpo";
/** Two-sided. */
const confidence = 0.975;

/** Files of an arena's results. */
export interface ResultFiles {
  /** JSON lines, a run each. */
  readonly runs: string;
  /** JSON lines, a method that takes no part each. */
  readonly excluded: string;
  /** The page. */
  readonly page: string;
}

/** @param out in place of the arena's folder and docs/. */
export const resultFiles = (arena: Arena, out?: string): ResultFiles => ({
  runs: join(out ?? arena.folder, "runs.jsonl"),
  excluded: join(out ?? arena.folder, "excluded.jsonl"),
  page: out ? join(out, "leaderboard.md") : join(arena.folder, "..", "..", "..", "docs", "leaderboard.md"),
});

/** Runs of the arena as it is now, by name; those under another digest are left out. */
function runsIn(digest: string, file: string): ReadonlyMap<string, ArenaRun> {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  return new Map(
    lines
      .map((line) => fromExactJson(line) as { name: string; result: ArenaRun })
      .filter(({ name }) => name.startsWith(`${digest}/`))
      .map(({ name, result }) => [name, result]),
  );
}

/** Results of the methods that have all runs of the protocol, best first. */
export async function resultsIn(arena: Arena, file: string): Promise<readonly ArenaResult[]> {
  const digest = await arenaDigest(arena);
  const runs = runsIn(digest, file);
  const ids = [...new Set([...runs.keys()].map((name) => name.split("/")[1]!))];
  const results: ArenaResult[] = [];
  for (const id of ids) {
    let whole = true;
    const read: MakeRuns<ArenaRun> = async (units) =>
      units.map(({ choice, seed }) => {
        const rate = id === untrained ? 0 : arena.rates[choice]!;
        const run = runs.get(runName(digest, id, rate, seed));
        if (!run) whole = false;
        return run ?? { ...absent };
      });
    const result = await arenaResult(arena, id, arena.seeds, read);
    if (whole) results.push(result);
  }
  return results.toSorted((a, b) => testMean(b) - testMean(a));
}

const absent: ArenaRun = {
  validation: Number.NaN,
  test: Number.NaN,
  curve: [],
  episodes: 0,
  tokens: 0,
  seconds: 0,
  commit: "",
};

/** Test success of all seeds from 1 on that a method has at its step size, beyond those that are reported. */
function spread(digest: string, file: string, { method, rate }: ArenaResult): readonly number[] {
  const runs = runsIn(digest, file);
  const found: number[] = [];
  for (let seed = 1; ; seed++) {
    const run = runs.get(runName(digest, method, rate, seed));
    if (!run) return found;
    found.push(run.test);
  }
}

const percent = (x: number): string => (100 * x).toFixed(1);
const signed = (x: number): string => `${x > 0 ? "+" : ""}${percent(x)}`;
const between = ({ mean: m, low, high }: Interval, said = percent): string =>
  `${said(m)} [${said(low)}, ${said(high)}]`;

const bars = "▁▂▃▄▅▆▇█";
const block = (share: number): string => bars[Math.min(7, Math.floor(Math.max(0, share) * 8))] ?? "?";

/** Mean over seeds, an iteration a block. A method that counts no success has no curve. */
function curve({ runs }: ArenaResult): string {
  const length = Math.min(...runs.map((run) => run.curve.length));
  return Array.from({ length }, (_, i) => block(mean(runs.map((run) => run.curve[i]!)))).join("");
}

function row(result: ArenaResult, against: ArenaResult, arena: Arena): readonly string[] {
  const values = (r: ArenaResult): number[] => r.runs.map(({ test }) => test);
  const own = values(result);
  const isEdge = result.rate === arena.rates[0] || result.rate === arena.rates.at(-1);
  const average = (of: (run: ArenaRun) => number): number => mean(result.runs.map(of));
  const tuned = `${result.rate}${isEdge ? " (edge)" : ""}`;
  const paired =
    result.method === opponent
      ? ["", ""]
      : [
          between(pairedInterval(own, values(against), confidence), signed),
          probabilityOfImprovement(own, values(against)).toFixed(2),
        ];
  return [
    `\`${result.method}\``,
    "neural",
    between(meanInterval(own, confidence)),
    ...paired,
    result.method === untrained ? "" : tuned,
    curve(result),
    Math.round(average((r) => r.episodes)).toLocaleString("en"),
    Math.round(average((r) => r.tokens)).toLocaleString("en"),
    average((r) => r.seconds).toFixed(0),
  ];
}

const columns = [
  "method",
  "level",
  "test success, %",
  "minus GRPO, points",
  "P(better)",
  "step size",
  "training",
  "episodes",
  "tokens",
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
  arena: Arena,
  files: Pick<ResultFiles, "runs" | "excluded">,
): Promise<string> {
  const results = await resultsIn(arena, files.runs);
  const against = results.find(({ method }) => method === opponent);
  if (!against) return `# Leaderboard\n\nNo whole set of runs of GRPO in arena "${arena.name}" yet.\n`;
  const { iterations, tasks, groupSize } = arena.budget;
  const trained = results.filter(({ method }) => method !== untrained);
  const digest = await arenaDigest(arena);
  const seeds = spread(digest, files.runs, against);
  const commits = [...new Set(results.flatMap(({ runs }) => runs.map(({ commit }) => commit)))].toSorted();
  const excluded: readonly Excluded[] = readExcluded(files.excluded);
  return `${[
    "# Leaderboard",
    "",
    `Generated by \`whetstone arena ${arena.name} [METHOD…]\` from the raw runs in \`src/arenas/${arena.name}/runs.jsonl\`; do not edit. The arena is described in \`src/arenas/${arena.name}/README.md\`.`,
    "",
    `## ${arena.name}: ${arena.summary}`,
    "",
    `Level **neural**: a small transformer, from the same weights for all. Arena digest \`${digest}\`; code of the reported runs: ${commits.map((c) => `\`${c}\``).join(", ")}. ${trained.length} methods.`,
    "",
    `Each method trains for ${iterations} iterations of ${tasks} tasks × ${groupSize} attempts, with a step size chosen among ${arena.rates.join(", ")} by validation success on ${arena.tuningSeeds} other seeds. Reported are ${arena.seeds} seeds: mean success on held-out tasks with a ${100 * confidence} % interval, the paired difference to tuned GRPO with a ${100 * confidence} % interval (not corrected for the number of methods), and the probability that a run of the method beats a run of GRPO. "edge": the best step size is the smallest or largest of the grid, so that a wider grid might be better. Seconds are wall-clock on a shared machine.`,
    "",
    ...table(
      columns,
      results.map((result) => row(result, against, arena)),
    ),
    "",
    `GRPO over ${seeds.length} seeds: mean ${percent(mean(seeds))} %, standard deviation ${percent(standardDeviation(seeds))} points, from ${percent(Math.min(...seeds))} % to ${percent(Math.max(...seeds))} %.`,
    "",
    "### Not in this arena",
    "",
    ...(excluded.length === 0
      ? ["None was tried."]
      : table(
          ["method", "why"],
          excluded.map(({ method, why }) => [`\`${method}\``, why.replaceAll("|", "\\|")]),
        )),
    "",
    "Methods in neither table have not been run.",
  ].join("\n")}\n`;
}

export const writeLeaderboard = async (arena: Arena, files: ResultFiles): Promise<void> =>
  replaceFile(files.page, await leaderboard(arena, files));
