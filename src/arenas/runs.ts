/** The runs of a method in an arena under the protocol: a grid on tuning seeds, then the best step size on reported seeds. */
import { mean } from "../common/statistics/statistics.ts";
import {
  type MakeRuns,
  type RunnerOptions,
  remembered,
  tuneArms,
  tuningSeedsFor,
  type Unit,
} from "../train/experiment.ts";
import { type Arena, type ArenaRun, arenaDigest } from "./arena.ts";

/** Stands for the arena's start, measured without training. */
export const untrained = "untrained";

/** Under which name a run is kept in an arena's file. Everything else about it is in the arena's digest. */
export const runName = (digest: string, method: string, rate: number, seed: number): string =>
  `${digest}/${method}/${rate}/${seed}`;

/** The grid of an arm; what is not trained has no step size to choose. */
const gridOf = (arena: Arena, method: string): readonly number[] =>
  method === untrained ? [0] : arena.rates;

/** Runs that the protocol asks for, most. */
export const plannedRuns = (arena: Arena, method: string, seeds: number): number =>
  seeds + (method === untrained ? 0 : arena.rates.length * arena.tuningSeeds);

/** Makes an arena's runs and remembers them in a file, of which each line is `{"name", "result"}`. */
export const arenaRunner = async (
  arena: Arena,
  options: Omit<RunnerOptions<ArenaRun>, "nameOf" | "make"> & {
    readonly make: (method: string, rate: number, seed: number) => Promise<ArenaRun>;
  },
): Promise<MakeRuns<ArenaRun>> => {
  const digest = await arenaDigest(arena);
  const rateOf = ({ arm, choice }: Unit): number => gridOf(arena, arm)[choice]!;
  return remembered<ArenaRun>({
    ...options,
    make: (unit) => options.make(unit.arm, rateOf(unit), unit.seed),
    nameOf: (unit) => runName(digest, unit.arm, rateOf(unit), unit.seed),
  });
};

/** What came of a method. */
export interface ArenaResult {
  readonly method: string;
  readonly rate: number;
  /** Mean success on validation tasks over the tuning seeds, for each rate of the grid. */
  readonly tuning: readonly number[];
  /** Of seeds `base`, `base` + 1, … */
  readonly runs: readonly ArenaRun[];
}

/** @param make remembers: read from a whole file of runs, nothing is run. */
export async function arenaResult(
  arena: Arena,
  method: string,
  reported: { readonly base: number; readonly seeds: number },
  make: MakeRuns<ArenaRun>,
): Promise<ArenaResult> {
  const grid = gridOf(arena, method);
  const best = await tuneArms(
    new Map([[method, grid.length]]),
    tuningSeedsFor(arena.tuningSeeds, reported.base),
    ({ validation }) => validation,
    make,
  );
  const { at, means } = best.get(method)!;
  const runs = await make(
    Array.from({ length: reported.seeds }, (_, i) => ({ arm: method, choice: at, seed: reported.base + i })),
  );
  return { method, rate: grid[at]!, tuning: means, runs };
}

/** Mean success on test tasks. */
export const testMean = ({ runs }: ArenaResult): number => mean(runs.map(({ test }) => test));
