/**
 * Collects what was found of methods outside their checks: the pages of comparisons, the benches' own files, and the arenas' raw
 * runs. A page without data stops it, so that none is left out silently.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import type { Arena, ArenaRun } from "../src/arenas/arena.ts";
import { arenas } from "../src/arenas/index.ts";
import {
  confidence,
  imitationBeside,
  leaderboardPage,
  pairedDifference,
  smallestLead,
} from "../src/arenas/leaderboard.ts";
import { opponent, resultFiles, resultsIn } from "../src/arenas/results.ts";
import { type ArenaResult, askedFor, atEdge, untrained } from "../src/arenas/runs.ts";
import { mean } from "../src/common/statistics/statistics.ts";
import type { BenchResult } from "../src/methods/benchResults.ts";

const root = join(import.meta.dirname, "..");
/** A page whose comparisons stand in a file of their own. */
const weightFree = { page: "docs/weight-free.md", data: "bench/results/weight-free.md" };

/** Everything there is, benches first, in the order of their pages. */
export async function collected(): Promise<readonly BenchResult[]> {
  const pages = globSync("docs/comparisons/*.md", { cwd: root }).map((page) => page.split(sep).join("/"));
  return [
    ...pages.sort().flatMap((page) => inPage(page)),
    ...comparisonsIn(weightFree.page, readFileSync(join(root, weightFree.data), "utf8")),
    ...(await Promise.all(arenas.map((arena) => inArena(arena)))).flat(),
  ];
}

/** Of a page: its data file, if it has one, or its tables. @throws where it has neither. */
function inPage(page: string): readonly BenchResult[] {
  const data = join(root, page.replace(/\.md$/, ".json"));
  // an empty list says that the page compares no method of the catalogue
  if (existsSync(data)) return JSON.parse(readFileSync(data, "utf8")) as readonly BenchResult[];
  const found = comparisonsIn(page, readFileSync(join(root, page), "utf8"));
  if (found.length > 0) return found;
  throw new Error(
    `${page} compares methods without data: add ${basename(data)} or the tables of whetstone compare`,
  );
}

const number = String.raw`([+−-]?[\d.]+)`;
const difference = new RegExp(String.raw`^${number} \[${number}, ${number}\]$`);
const share = (text: string): number => Number(text.replace("−", "-")) / 100;

const tunings = {
  both: "both tuned on other seeds",
  opponent: "opponent tuned on other seeds",
  none: "default settings, not tuned",
};

/** The tables that `whetstone compare` writes, of one or more comparisons: the method of the first row is the opponent. */
export function comparisonsIn(page: string, text: string): BenchResult[] {
  const found: BenchResult[] = [];
  let [env, split, seeds] = ["", "", 0];
  let first: { readonly id: string; readonly isTuned: boolean } | undefined;
  for (const line of text.split("\n")) {
    const title = /^##? .+ on (.+)$/.exec(line);
    if (title) env = title[1]!;
    seeds = Number(/engine, (\d+) seeds?/.exec(line)?.[1] ?? seeds);
    const held = /^###? (?:Held out: )?(.+)$/.exec(line);
    if (held && !title) [split, first] = [held[1]!, undefined];
    const cells = /^\| `/.test(line)
      ? line
          .slice(2, -2)
          .split(" | ")
          .map((cell) => cell.trim())
      : [];
    const [method] = /(?<=`)[^`]+/.exec(cells[0] ?? "") ?? [];
    if (method === undefined) continue;
    const isTuned = /\(.+\)/.test(cells[0]!);
    const stated = difference.exec(cells[2] ?? "");
    if (!stated) first = { id: method, isTuned };
    if (!stated || !first) continue;
    const [mean, low, high] = stated.slice(1).map(share) as [number, number, number];
    found.push({
      method,
      opponent: first.id,
      bench: basename(page, ".md"),
      page,
      world: `${env}, ${split}`,
      level: /^local engine.* those of /m.test(text)
        ? "real"
        : /^local engine/m.test(text)
          ? "neural"
          : "shared",
      metric: "held-out success",
      effect: { mean, low, high, n: seeds },
      confidence: 0.95,
      tuning: tunings[isTuned ? "both" : first.isTuned ? "opponent" : "none"],
    });
  }
  return found;
}

/**
 * Of an arena, each method's difference to the opponent; where there are several ranges of seeds, the one with the smallest lead:
 * methods are run again because the first range showed a lead, and one that a range does not show is no finding. None until the
 * opponent has all its runs there.
 * @param files the raw runs.
 */
export async function inArena(arena: Arena, files = resultFiles(arena)): Promise<readonly BenchResult[]> {
  const all = await resultsIn(arena, files);
  const ids = new Set([...all.byBase.values()].flat().map(({ method }) => method));
  return [...ids]
    .filter((id) => id !== opponent && id !== untrained)
    .flatMap((id) => {
      const found = smallestLead(id, all);
      return found ? [asBench(arena, found)] : [];
    });
}

function asBench(arena: Arena, found: NonNullable<ReturnType<typeof smallestLead>>): BenchResult {
  const { own: result, lead, results } = found;
  const [against, start] = [opponent, untrained].map((id) => results.find(({ method }) => method === id));
  const imitation = imitationBeside(result, results);
  return {
    method: result.method,
    opponent,
    bench: `arena ${arena.name}`,
    page: relative(root, leaderboardPage).split(sep).join("/"),
    world: "",
    level: "neural",
    metric: "held-out success",
    effect: lead,
    confidence,
    tuning: `${tuned(result)}, GRPO's ${tuned(against!)}, by ${arena.tuningSeeds} other seeds`,
    cost: `${cost(result)} a run, GRPO's ${cost(against!)}`,
    asked: askedFor(result),
    ...(start && { start: pairedDifference(result, start) }),
    ...(imitation && { imitation: pairedDifference(result, imitation) }),
  };
}

const tuned = (result: ArenaResult): string =>
  `step size ${result.rate} of ${result.tried.length} tried${atEdge(result) ? ", at the edge" : ""}`;

const cost = ({ runs }: ArenaResult): string => {
  const count = (of: (run: ArenaRun) => number): string =>
    Math.round(mean(runs.map(of))).toLocaleString("en");
  return `${count((run) => run.episodes)} episodes and ${count((run) => run.tokens)} tokens`;
};

/** Six digits are more than anybody reads; a line for each result. */
export const asLines = (results: readonly BenchResult[]): string =>
  `[\n${results.map((result) => JSON.stringify(result, (_, x) => (typeof x === "number" ? Number(x.toFixed(6)) : x))).join(",\n")}\n]\n`;
