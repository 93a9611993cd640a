// Searches of examples/discover at equal numbers of evaluations, over eight seeds.
//
//     node bench/discover.ts                 # all arms; those in bench/results/discover.jsonl are not run again
//     node bench/discover.ts --arm evolution
//
// Writes bench/results/discover.md and the table of docs/discover.md.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import packing from "../examples/discover/packing.ts";
import regression from "../examples/discover/regression.ts";
import scheduling from "../examples/discover/scheduling.ts";
import { replaceFile } from "../src/common/files/files.ts";
import { meanInterval } from "../src/common/statistics/statistics.ts";
import { randomStream } from "../src/core/random.ts";
import { type Archive, bestOf } from "../src/discover/archive.ts";
import { isOptimal, type Problem, problemEnvironment, scoreOf } from "../src/discover/problem.ts";
import { type SearchOptions, searchMethod } from "../src/discover/search.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { tabularEngine } from "../src/engine/tabular/engine.ts";
import { trainInMemory } from "../src/train/trainInMemory.ts";
import { withMeasured } from "./feedback/page.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

const evaluations = 3200;
const problems: readonly Problem[] = [packing, scheduling, regression];
const results = join(import.meta.dirname, "results");
const usual = { writes: "moves", edits: 1, groups: 8, groupSize: 8, evaluations } as const;

/** Every arm proposes the same edits. The step size of the learner was chosen on seeds 101 to 103 of scheduling, from 1e-5, 2e-5, 5e-5, 1e-4 and 2e-4. */
const arms: Readonly<
  Record<string, { readonly what: string; readonly options?: Omit<SearchOptions, "onArchive"> }>
> = {
  random: {
    what: "random search: 30 random edits of the start (12 in regression), the best of 3,200",
    options: { ...usual, by: "random", strategy: "restart", edits: 30 },
  },
  climbing: { what: "hill climbing: 64 random edits of the best so far, the best of them if it is no worse" },
  evolution: {
    what: "`--search evolution`: 50 survivors, tournaments of three, one random edit",
    options: { ...usual, by: "random", strategy: "evolution" },
  },
  puct: {
    what: "`whetstone discover`: PUCT, random edits",
    options: { ...usual, by: "random", strategy: "puct" },
  },
  frozen: {
    what: "PUCT, edits of the model of `--learn` that does not learn",
    options: { ...usual, by: "model", strategy: "puct" },
  },
  learn: {
    what: "`whetstone discover --learn`",
    options: { ...usual, by: "learner", strategy: "puct" },
  },
};

interface Row {
  readonly problem: string;
  readonly arm: string;
  readonly seed: number;
  /** Best score, and the number of candidates scored when it was found. */
  readonly best: number;
  readonly at: number;
  readonly seconds: number;
}

const found = Symbol("found");

async function searched(problem: Problem, options: Omit<SearchOptions, "onArchive">, seed: number) {
  let last: Archive | undefined;
  const stop = new AbortController();
  const onArchive = (archive: Archive): void => {
    last = archive;
    if (isOptimal(problem, bestOf(archive)?.score ?? Number.NEGATIVE_INFINITY)) stop.abort(found);
  };
  const engine = options.by === "random" ? tabularEngine() : localEngine();
  try {
    await trainInMemory({
      environment: problemEnvironment(problem, options),
      method: searchMethod(problem, { ...options, onArchive }),
      ...{ engine, seed, stop: stop.signal },
      iterations: Math.ceil(evaluations / options.groupSize),
      episodes: evaluations - problem.starts.length,
    });
  } catch (e) {
    if (e !== found) throw e;
  } finally {
    await engine.dispose();
  }
  const best = bestOf(last!)!;
  return { best: best.score, at: best.at };
}

/** What anybody would write first. */
async function climbed(problem: Problem, seed: number) {
  const random = randomStream(seed);
  let at = 0;
  let foundAt = 0;
  let candidate = problem.starts[0]!;
  let best = (await scoreOf(problem, candidate)) ?? 0;
  while (at < evaluations && !isOptimal(problem, best)) {
    const legal = problem.moves!.of(candidate);
    let next = { candidate, score: Number.NEGATIVE_INFINITY };
    for (let i = 0; i < 64; i++) {
      const made = problem.moves!.apply(candidate, legal[random.below(legal.length)]!);
      const score = (await scoreOf(problem, made)) ?? Number.NEGATIVE_INFINITY;
      at++;
      if (score > best) foundAt = at;
      if (score > next.score) next = { candidate: made, score };
    }
    if (next.score >= best) [candidate, best] = [next.candidate, next.score];
  }
  return { best, at: foundAt };
}

const { arm: only, seeds } = new Command()
  .addOption(new Option("--arm <name>").choices(Object.keys(arms)))
  .option("--seeds <n>", "seeds from 1 on", "8")
  .parse()
  .opts<{ readonly arm?: string; readonly seeds: string }>();

const file = join(results, "discover.jsonl");
const kept = (): Row[] => keptRows(file);

for (const arm of only === undefined ? Object.keys(arms) : [only]) {
  for (const problem of problems) {
    for (let seed = 1; seed <= Number(seeds); seed++) {
      const { name } = problem;
      if (kept().some((row) => row.problem === name && row.arm === arm && row.seed === seed)) continue;
      progress(`${name}, ${arm}, seed ${seed}`);
      const began = performance.now();
      const { options } = arms[arm]!;
      const edits = arm === "random" && name === "regression" ? 12 : options?.edits;
      const done = options
        ? await searched(problem, { ...options, edits: edits! }, seed)
        : await climbed(problem, seed);
      const row: Row = { problem: name, arm, seed, ...done, seconds: (performance.now() - began) / 1000 };
      appendFileSync(file, `${JSON.stringify(row)}\n`);
    }
  }
}

const rows = kept();
const cell = (problem: Problem, arm: string): string => {
  const own = rows.filter((row) => row.problem === problem.name && row.arm === arm);
  if (own.length === 0) return "–";
  const reached = own.filter(({ best }) => isOptimal(problem, best));
  const { mean, low, high } = meanInterval(own.map(({ best }) => best));
  const median = own.map(({ at }) => at).sort((a, b) => a - b)[Math.floor(own.length / 2)]!;
  const when = reached.length === own.length ? `, at ${median}` : "";
  return `${mean.toFixed(3)} [${low.toFixed(3)}, ${Math.min(1, high).toFixed(3)}]; ${reached.length} of ${own.length}${when}`;
};
const table = [
  `| search | ${problems.map(({ name }) => name).join(" | ")} |`,
  `| --- | ${problems.map(() => "---").join(" | ")} |`,
  ...Object.entries(arms).map(
    ([name, { what }]) => `| ${what} | ${problems.map((problem) => cell(problem, name)).join(" | ")} |`,
  ),
].join("\n");
const page = [
  "# Searches at equal numbers of evaluations",
  "Written by `node bench/discover.ts`.",
  `Best score after ${evaluations.toLocaleString("en")} candidates, mean of the seeds with a 95 % t interval (1 is the optimum); in how many of the seeds the optimum was reached, and, where in all, the median number of candidates by then.`,
  table,
].join("\n\n");
await replaceFile(join(results, "discover.md"), `${page}\n`);
const guide = join(import.meta.dirname, "..", "docs", "discover.md");
const measured = page.split("\n\n").slice(2).join("\n\n");
await replaceFile(guide, withMeasured(readFileSync(guide, "utf8"), measured, "bench/discover.ts"));
