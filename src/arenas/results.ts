/** Results of an arena, read from its raw runs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mean } from "../common/statistics/statistics.ts";
import { fromExactJson } from "../core/json.ts";
import type { MakeRuns } from "../train/experiment.ts";
import { type Arena, type ArenaRun, arenaDigest, seedsApart } from "./arena.ts";
import { readExcluded } from "./excluded.ts";
import { type ArenaResult, arenaResult, rateOf, runName, testMean, untrained } from "./runs.ts";

/** What every method is paired with. It is run first. */
export const opponent = "grpo";

/** Files of an arena's results. */
export interface ResultFiles {
  /** JSON lines, a run each. */
  readonly runs: string;
  /** JSON lines, a method that takes no part each. */
  readonly excluded: string;
}

/** @param out in place of the arena's folder. */
export const resultFiles = (arena: Arena, out = arena.folder): ResultFiles => ({
  runs: join(out, "runs.jsonl"),
  excluded: join(out, "excluded.jsonl"),
});

/** What the raw runs say of the arena as it is now. Runs under another digest are left out. */
export interface ArenaResults {
  readonly arena: Arena;
  readonly digest: string;
  /** By first reported seed, ascending: the methods that have all runs of the protocol from there, best first. */
  readonly byBase: ReadonlyMap<number, readonly ArenaResult[]>;
  /** Methods of which every run equals the start's on the same seed: they find nothing here to learn from. */
  readonly idle: readonly string[];
  /** Mean test success, on the first reported seeds, of methods that were run before a rule left them out. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Test success of the opponent on all seeds that follow each other from the first, also beyond those that are reported. */
  readonly spread: readonly number[];
}

/** Methods that take no part are left out, also where there are runs of them. */
export async function resultsIn(arena: Arena, files: ResultFiles): Promise<ArenaResults> {
  const digest = await arenaDigest(arena);
  const runs = runsIn(digest, files.runs);
  const out = new Set(readExcluded(files.excluded).map(({ method }) => method));
  const places = [...runs.keys()].map((name) => name.split("/"));
  const ids = [...new Set(places.map(([, id]) => id!))].filter((id) => !out.has(id));
  const bases = [...new Set(places.map(([, , , seed]) => baseOf(Number(seed))))].toSorted((a, b) => a - b);
  const byBase = new Map<number, readonly ArenaResult[]>();
  const idle = new Set<string>();
  for (const base of bases) {
    const whole: ArenaResult[] = [];
    for (const id of ids) {
      const result = await wholeResult(arena, id, base, (rate, seed) =>
        runs.get(runName(digest, id, rate, seed)),
      );
      if (result) whole.push(result);
    }
    const start = whole.find(({ method }) => method === untrained);
    const isIdle = (result: ArenaResult): boolean =>
      start !== undefined && ![untrained, opponent].includes(result.method) && runsEqual(result, start);
    for (const result of whole.filter(isIdle)) idle.add(result.method);
    const learning = whole.filter((result) => !isIdle(result));
    if (learning.length > 0)
      byBase.set(
        base,
        learning.toSorted((a, b) => testMean(b) - testMean(a)),
      );
  }
  const first = byBase.get(bases[0] ?? 1)?.find(({ method }) => method === opponent);
  const spread: number[] = [];
  for (let seed = bases[0] ?? 1; first; seed++) {
    const run = runs.get(runName(digest, opponent, first.rate, seed));
    if (!run) break;
    spread.push(run.test);
  }
  const before = Map.groupBy(
    places.filter(([, id, , seed]) => out.has(id!) && Number(seed) <= arena.seeds),
    ([, id]) => id!,
  );
  const leftOut = new Map(
    [...before].map(([id, of]) => [id, mean(of.map((place) => runs.get(place.join("/"))!.test))] as const),
  );
  return { arena, digest, byBase, idle: [...idle].toSorted(), leftOut, spread };
}

/** Whether two methods end with the same success on all held-out tasks, seed by seed. */
export const runsEqual = (a: ArenaResult, b: ArenaResult): boolean =>
  a.runs.every(({ test, validation }, i) => test === b.runs[i]?.test && validation === b.runs[i]?.validation);

function runsIn(digest: string, file: string): ReadonlyMap<string, ArenaRun> {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  return new Map(
    lines
      .map((line) => fromExactJson(line) as { name: string; result: ArenaRun })
      .filter(({ name }) => name.startsWith(`${digest}/`))
      .map(({ name, result }) => [name, result]),
  );
}

const baseOf = (seed: number): number =>
  Math.floor(((seed % 1e6) - (seed < 1e6 ? 1 : 0)) / seedsApart) * seedsApart + 1;

/** Undefined if a run of the protocol is missing. */
async function wholeResult(
  arena: Arena,
  method: string,
  base: number,
  read: (rate: number, seed: number) => ArenaRun | undefined,
): Promise<ArenaResult | undefined> {
  let whole = true;
  const make: MakeRuns<ArenaRun> = async (units) =>
    units.map((unit) => {
      const run = read(rateOf(arena, unit), unit.seed);
      if (!run) whole = false;
      return run ?? absent;
    });
  const result = await arenaResult(arena, method, { base, seeds: arena.seeds }, make);
  return whole ? result : undefined;
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
