/** Runs of an experiment: arms with choices of settings, tuned on seeds that are not reported, each run made once and remembered. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { mean } from "../common/statistics/statistics.ts";
import { fromExactJson, toExactJson } from "../core/json.ts";

/** One run to make: which arm, which choice of its grid, on which seed. */
export interface Unit {
  readonly arm: string;
  readonly choice: number;
  readonly seed: number;
}

/** Makes runs. Results come in the order asked for. */
export type MakeRuns<Result> = (units: readonly Unit[]) => Promise<readonly Result[]>;

/** How runs are made and reported. */
export interface RunnerOptions<Result> {
  readonly make: (unit: Unit) => Promise<Result>;
  /** A file of JSON lines. */
  readonly memory: string;
  /** Under which name a run is remembered. Default: its arm, choice and seed. */
  readonly nameOf?: (unit: Unit) => string;
  /** Runs at a time. Default: all that are asked for. */
  readonly atOnce?: number;
  readonly onBegin?: (unit: Unit) => void;
  /** @param again whether it was remembered. */
  readonly onResult?: (unit: Unit, result: Result, again: boolean) => void;
}

/** The whole lines of a file. Half a line at its end is cut off, so that the next one stands alone. */
function linesIn(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole.length < text.length) writeFileSync(file, whole);
  return whole.split("\n").slice(0, -1);
}

function resultIn<Result>(line: string): readonly [name: string, result: Result] {
  const { name, result } = fromExactJson(line) as { name: string; result: Result };
  return [name, result];
}

/** Makes runs and remembers them: one that is in the file already is not made again. */
export function remembered<Result>({
  make,
  memory,
  nameOf = ({ arm, choice, seed }) => `${arm}/${choice}/${seed}`,
  atOnce = Number.POSITIVE_INFINITY,
  onBegin,
  onResult,
}: RunnerOptions<Result>): MakeRuns<Result> {
  mkdirSync(dirname(memory), { recursive: true });
  const known = new Map(linesIn(memory).map((line) => resultIn<Result>(line)));
  async function one(unit: Unit): Promise<Result> {
    const name = nameOf(unit);
    onBegin?.(unit);
    const old = known.get(name);
    const result = old ?? (await make(unit));
    if (old === undefined) {
      known.set(name, result);
      appendFileSync(memory, `${toExactJson({ name, result })}\n`);
    }
    onResult?.(unit, result, old !== undefined);
    return result;
  }
  return async (units) => {
    const results: Result[] = [];
    let next = 0;
    let failed = false;
    const work = async (): Promise<void> => {
      while (next < units.length && !failed) {
        const at = next++;
        try {
          results[at] = await one(units[at]!);
        } catch (e) {
          failed = true;
          throw e;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, units.length) }, work));
    return results;
  };
}

/** The first seed of those that settings are chosen on. */
export const tuningFrom = 1_000_000;

/**
 * Seeds on which settings are chosen. They lie far from those that are reported.
 * @param base first reported seed; another one gives other tuning seeds.
 */
export const tuningSeedsFor = (count: number, base = 1): readonly number[] =>
  Array.from({ length: count }, (_, i) => tuningFrom + base - 1 + i);

/** The best choice of an arm, and the mean worth of each where there were several. */
export interface Tuned {
  readonly at: number;
  readonly means: readonly number[];
}

/**
 * Makes the runs of every choice of every arm that has several, and finds the best of each arm. The first of equals.
 * @param arms how many choices each has.
 * @param seeds see {@link tuningSeedsFor}.
 * @param worthOf value of a run, by which choices are compared; a value that is not finite counts as the lowest.
 */
export async function tuneArms<Result>(
  arms: ReadonlyMap<string, number>,
  seeds: readonly number[],
  worthOf: (result: Result) => number,
  make: MakeRuns<Result>,
  direction: "higher" | "lower" = "higher",
): Promise<ReadonlyMap<string, Tuned>> {
  const units = [...arms].flatMap(([arm, choices]) =>
    choices < 2
      ? []
      : Array.from({ length: choices }, (_, choice) => seeds.map((seed) => ({ arm, choice, seed }))).flat(),
  );
  const values = (await make(units)).map(worthOf);
  const sign = direction === "higher" ? 1 : -1;
  return new Map(
    [...arms].map(([arm, choices]): [string, Tuned] => {
      if (choices < 2) return [arm, { at: 0, means: [] }];
      const means = Array.from({ length: choices }, (_, choice) =>
        mean(values.filter((_, i) => units[i]!.arm === arm && units[i]!.choice === choice)),
      );
      const worth = means.map((x) => (Number.isFinite(x) ? sign * x : Number.NEGATIVE_INFINITY));
      return [arm, { at: worth.indexOf(Math.max(...worth)), means }];
    }),
  );
}
