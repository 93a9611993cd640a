/** The runs of a method in an arena under the protocol: a grid on tuning seeds, then the best step size on reported seeds. */
import { mean } from "../common/statistics/statistics.ts";
import {
  type MakeRuns,
  type RunnerOptions,
  remembered,
  tuningSeedsFor,
  type Unit,
} from "../train/experiment.ts";
import { type Arena, type ArenaRun, arenaDigest } from "./arena.ts";

/** Stands for the arena's start, measured without training. */
export const untrained = "untrained";

/** Under which name a run is kept in an arena's file. Everything else about it is in the arena's digest. */
export const runName = (digest: string, method: string, rate: number, seed: number): string =>
  `${digest}/${method}/${rate}/${seed}`;

/** So many further step sizes may be tried beyond either end of an arena's. */
const reach = 3;

/** All step sizes that a method may come to, ascending: the arena's, and beyond either end further ones at the same ratio. */
export function stepSizes({ rates }: Pick<Arena, "rates">): readonly number[] {
  const [first, second] = rates as [number, number];
  const [last, previous] = [rates.at(-1)!, rates.at(-2)!];
  const beyond = (end: number, ratio: number): number[] =>
    Array.from({ length: reach }, (_, i) => Number((end * ratio ** (i + 1)).toPrecision(2)));
  return [...beyond(first, first / second).reverse(), ...rates, ...beyond(last, last / previous)];
}

/** What is not trained has no step size to choose. */
const ladderOf = (arena: Arena, method: string): readonly number[] =>
  method === untrained ? [0] : stepSizes(arena);

/** Step size of a run. */
export const rateOf = (arena: Arena, { arm, choice }: Pick<Unit, "arm" | "choice">): number =>
  ladderOf(arena, arm)[choice]!;

/** Runs that the protocol asks for where the best step size is not at an end. */
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
  return remembered<ArenaRun>({
    ...options,
    make: (unit) => options.make(unit.arm, rateOf(arena, unit), unit.seed),
    nameOf: (unit) => runName(digest, unit.arm, rateOf(arena, unit), unit.seed),
  });
};

/** What came of a method. */
export interface ArenaResult {
  readonly method: string;
  readonly rate: number;
  /** Step sizes that were tried, ascending. */
  readonly tried: readonly number[];
  /** Mean success on validation tasks over the tuning seeds, for each of them. */
  readonly tuning: readonly number[];
  /** Of seeds `base`, `base` + 1, … */
  readonly runs: readonly ArenaRun[];
}

/** @param make remembers: read from a whole file of runs, nothing is run. */
export async function arenaResult(
  arena: Arena,
  method: string,
  { base, seeds }: { readonly base: number; readonly seeds: number },
  make: MakeRuns<ArenaRun>,
): Promise<ArenaResult> {
  const ladder = ladderOf(arena, method);
  const { best, tried, tuning } = await tuned(arena, method, tuningSeedsFor(arena.tuningSeeds, base), make);
  const runs = await make(
    Array.from({ length: seeds }, (_, i) => ({ arm: method, choice: best, seed: base + i })),
  );
  return { method, rate: ladder[best]!, tried: tried.map((choice) => ladder[choice]!), tuning, runs };
}

/** Choices of the ladder that were tried, ascending, what each is worth, and the best: the smallest of equals. */
interface Tuned {
  readonly best: number;
  readonly tried: readonly number[];
  readonly tuning: readonly number[];
}

/**
 * As long as the best step size is the smallest or the largest that was tried, the next beyond it is tried as well: an arena's grid
 * suits its baseline, and a method that needs other steps is not to lose by that.
 */
async function tuned(
  arena: Arena,
  method: string,
  seeds: readonly number[],
  make: MakeRuns<ArenaRun>,
): Promise<Tuned> {
  if (method === untrained) return { best: 0, tried: [0], tuning: [] };
  const worthOf = async (choices: readonly number[]): Promise<readonly number[]> => {
    const runs = await make(
      choices.flatMap((choice) => seeds.map((seed) => ({ arm: method, choice, seed }))),
    );
    return choices.map((_, i) =>
      mean(runs.slice(i * seeds.length, (i + 1) * seeds.length).map(({ validation }) => validation)),
    );
  };
  let tried: readonly number[] = arena.rates.map((_, i) => reach + i);
  let tuning = await worthOf(tried);
  for (;;) {
    const [low, high] = [tried[0]! - 1, tried.at(-1)! + 1];
    const end = endOf(tuning);
    if (end === "low" && low >= 0)
      [tried, tuning] = [
        [low, ...tried],
        [...(await worthOf([low])), ...tuning],
      ];
    else if (end === "high" && high < arena.rates.length + 2 * reach)
      [tried, tuning] = [
        [...tried, high],
        [...tuning, ...(await worthOf([high]))],
      ];
    else return { best: tried[Math.max(0, tuning.indexOf(Math.max(...tuning)))]!, tried, tuning };
  }
}

/** At which end of the step sizes the best lies; undefined where it lies between, or is no better than its neighbour. */
function endOf(tuning: readonly number[]): "low" | "high" | undefined {
  if (tuning.length < 2) return undefined;
  const best = Math.max(...tuning);
  if (tuning[0] === best && tuning[1]! < best) return "low";
  return tuning.indexOf(best) === tuning.length - 1 ? "high" : undefined;
}

/** Whether a step size might be better that the protocol does not reach. */
export const atEdge = ({ tuning }: ArenaResult): boolean => endOf(tuning) !== undefined;

/** Mean success on test tasks. */
export const testMean = ({ runs }: ArenaResult): number => mean(runs.map(({ test }) => test));
