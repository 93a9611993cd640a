/**
 * A check: one small experiment per method, said before it is looked at. Baseline and method get grids of equal size,
 * chosen on seeds that are not reported; the verdict follows from a paired t interval over fresh seeds alone.
 */

import {
  type Hypothesis,
  looks,
  mean,
  median,
  sequentialVerdict,
  type Verdict,
} from "../common/statistics/statistics.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Interval } from "../core/interval.ts";
import type { Json } from "../core/json.ts";
import { highestRate } from "../method/settings.ts";
import { type MakeRuns, type Tuned, tuneArms, tuningSeedsFor, type Unit } from "./experiment.ts";

/**
 * What an experiment can convince of. `law`: mathematics or scripted players; `table`: a world made for the method; `shared`: a
 * world that two or more checks use; `neural`: a transformer in an arena; `real`: a pretrained language model. The first three
 * train tables.
 */
export const levels = ["law", "table", "shared", "neural", "real"] as const;
export type Level = (typeof levels)[number];

/** One point of an arm's grid: values of settings, by name. */
export type Choice = Readonly<Record<string, Json>>;

/** Result of one run of an arm. */
export interface Measured {
  /** The check's metric. */
  readonly value: number;
  /** Its cost, by which the arms' budgets are compared. */
  readonly cost: { readonly episodes: number; readonly tokens: number };
  /** Success, or what else was followed, over the run. For the curve in the report. */
  readonly curve?: readonly number[];
  /** Further numbers worth showing. */
  readonly more?: Readonly<Record<string, number>>;
}

/** One side of a comparison. */
export interface Arm {
  /** In a few words, e.g. "GRPO, outcome at every token". */
  readonly what: string;
  /** As many as on the other side. */
  readonly grid: readonly Choice[];
  /** Pure in its arguments: the same choice and seed give the same numbers. */
  measure(choice: Choice, seed: number): Promise<Measured>;
}

/** An experiment that tests one claim of a method's paper: the method against a baseline, both with grids of equal size. */
export interface Check extends Hypothesis {
  /** The method's id. */
  readonly id: string;
  readonly level: Level;
  /** What the paper says, as far as this check can show it. One sentence. */
  readonly claim: string;
  /** The metric, with its unit, e.g. "mean success over training". */
  readonly metric: string;
  readonly baseline: Arm;
  readonly method: Arm;
  /** Further arms, reported beside the two with no say in the verdict: ablations, upper bounds. */
  readonly others?: Readonly<Record<string, Arm>>;
  /**
   * Names of the arms that lack the method's ingredient, "baseline" among them where it is one: the best of them says whether the
   * ingredient matters.
   */
  readonly simpler?: readonly string[];
  /** Seeds per choice while choosing. Default 5. */
  readonly tuningSeeds?: number;
  /** Lowest and highest value that the metric can take in this world; "unbounded" where it has no such ends in every seed. */
  readonly range: readonly [low: number, high: number] | "unbounded";
  /** Why the arms' costs differ, where they do by more than 5 %. */
  readonly unequalCost?: string;
  /** Earlier attempts that were given up, and after a failure the possible reasons at this size. */
  readonly notes?: string;
}

/** Validates a check's definition. @throws WhetstoneError `config.invalid`. */
export function defineCheck(check: Check): Check {
  const arms = { baseline: check.baseline, method: check.method, ...check.others };
  const sizes = Object.values(arms).map((arm) => arm.grid.length);
  const unknown = check.simpler?.find((name) => name !== "baseline" && check.others?.[name] === undefined);
  const wrong =
    unknown !== undefined
      ? `a simpler arm "${unknown}" that is not among the others`
      : check.smallestEffect < 0 || !Number.isFinite(check.smallestEffect)
        ? `a smallest effect of ${check.smallestEffect}`
        : sizes.some((n) => n !== sizes[0] || n === 0)
          ? `grids of ${sizes.join(", ")} choices`
          : Object.values(arms).some(({ grid }) =>
                grid.some(
                  ({ learningRate }) => typeof learningRate === "number" && learningRate > highestRate,
                ),
              )
            ? `a learning rate above ${highestRate}`
            : check.range !== "unbounded" && !(check.range?.[0] < check.range?.[1])
              ? `a range of ${check.range?.join(" to ")}`
              : undefined;
  if (wrong === undefined) return check;
  throw new WhetstoneError("config.invalid", {
    where: `check "${check.id}"`,
    got: wrong,
    expected: `a smallest effect of 0 or more, known simpler arms, learning rates of at most ${highestRate}, equal grids for all arms, and the metric's range from low to high or "unbounded"`,
    fix: "Correct the check. Every arm needs the same number of choices, so that none is tuned harder.",
  });
}

/** Result of an arm. */
export interface ArmEvidence {
  readonly what: string;
  readonly chosen: Choice;
  /** Mean of the metric over the tuning seeds for each choice, in the order of the grid. */
  readonly tuning: readonly number[];
  /** Whether a number of the choice is the lowest or highest of those tried: a better one may lie beyond. */
  readonly atEdge: boolean;
  /** By seed. */
  readonly values: readonly number[];
  readonly cost: { readonly episodes: number; readonly tokens: number };
  readonly curve?: readonly number[];
  readonly more?: Readonly<Record<string, number>>;
}

/** Result of a check: the verdict, and the numbers per arm and seed that it follows from. */
export interface CheckEvidence {
  readonly id: string;
  readonly level: Level;
  /** Names of the arms that lack the method's ingredient, of `others` or "baseline". */
  readonly simpler?: readonly string[];
  readonly claim: string;
  readonly metric: string;
  readonly direction: Hypothesis["direction"];
  readonly smallestEffect: number;
  /** Seeds on which each choice of a grid was tried; absent where there was nothing to choose. */
  readonly tuningSeeds?: number;
  /** Confidence of each look. Default that of a first design, 0.975. */
  readonly confidence?: number;
  readonly verdict: Verdict;
  /** Mean of method − baseline. */
  readonly effect: number;
  readonly interval: Interval;
  readonly seeds: readonly number[];
  readonly baseline: ArmEvidence;
  readonly method: ArmEvidence;
  readonly others?: Readonly<Record<string, ArmEvidence>>;
  readonly unequalCost?: string;
  readonly notes?: string;
}

/** How a check is run. */
export interface RunCheckOptions {
  /** First of the reported seeds. Default 1, which makes evidence. */
  readonly base?: number;
  /** Confidence of each look. Default 0.975. */
  readonly confidence?: number;
  /** Whether it is a new check, which has to keep the whole protocol. Checks with older evidence show what they miss as caveats. */
  readonly isNew?: boolean;
}

/**
 * Runs a check to its verdict.
 * @throws WhetstoneError `config.invalid` where costs differ without a reason; for a new check also with fewer than five tuning seeds,
 * tokens that differ by more than 30 %, or a baseline at the floor or ceiling of its world.
 */
export async function runCheck(
  check: Check,
  make: MakeRuns<Measured>,
  { base = 1, confidence = looks.confidence, isNew = false }: RunCheckOptions = {},
): Promise<CheckEvidence> {
  if (isNew) requireTuning(check);
  const arms = new Map<string, Arm>([
    ["baseline", check.baseline],
    ["method", check.method],
    ...Object.entries(check.others ?? {}),
  ]);
  const { tuningSeeds = fewestTuningSeeds, direction } = check;
  const sizes = new Map([...arms].map(([name, { grid }]) => [name, grid.length]));
  const chosen = await tuneArms(sizes, tuningSeedsFor(tuningSeeds), ({ value }) => value, make, direction);
  const measured = new Map([...arms.keys()].map((name) => [name, [] as Measured[]]));
  let wanted: number | undefined = looks.seeds[0];
  let done = 0;
  let look: ReturnType<typeof sequentialVerdict> | undefined;
  while (wanted !== undefined) {
    const units: Unit[] = [];
    for (const arm of arms.keys())
      for (let i = done; i < wanted; i++) units.push({ arm, choice: chosen.get(arm)!.at, seed: base + i });
    const results = await make(units);
    units.forEach(({ arm }, i) => void measured.get(arm)!.push(results[i]!));
    done = wanted;
    const [b, m] = [measured.get("baseline")!, measured.get("method")!];
    look = sequentialVerdict(
      m.map((x, i) => x.value - b[i]!.value),
      check,
      confidence,
    );
    wanted = look.extendTo;
  }
  requireEqualCost(check, measured.get("baseline")!, measured.get("method")!, isNew);
  if (isNew) requireRoom(check, measured.get("baseline")!);
  const evidence = (name: string): ArmEvidence =>
    armEvidence(arms.get(name)!, chosen.get(name)!, measured.get(name)!);
  const { claim, metric, smallestEffect, unequalCost, notes } = check;
  return {
    id: check.id,
    level: check.level,
    ...(check.simpler && { simpler: check.simpler }),
    claim,
    metric,
    direction,
    smallestEffect,
    ...(check.baseline.grid.length > 1 && { tuningSeeds }),
    confidence,
    verdict: look!.verdict,
    effect: look!.interval.mean,
    interval: look!.interval,
    seeds: Array.from({ length: done }, (_, i) => base + i),
    baseline: evidence("baseline"),
    method: evidence("method"),
    ...(check.others && {
      others: Object.fromEntries(Object.keys(check.others).map((name) => [name, evidence(name)])),
    }),
    ...(unequalCost && { unequalCost }),
    ...(notes && { notes }),
  };
}

function armEvidence(arm: Arm, { at, means: tuning }: Tuned, measured: readonly Measured[]): ArmEvidence {
  const curves = measured.flatMap((m) => (m.curve ? [m.curve] : []));
  const names = Object.keys(measured[0]?.more ?? {});
  return {
    what: arm.what,
    chosen: arm.grid[at]!,
    tuning,
    atEdge: settingsAtEdge(arm.grid, arm.grid[at]!).length > 0,
    values: measured.map((m) => m.value),
    cost: {
      episodes: mean(measured.map((m) => m.cost.episodes)),
      tokens: mean(measured.map((m) => m.cost.tokens)),
    },
    ...(curves.length > 0 && {
      curve: curves[0]!.map((_, i) => mean(curves.map((c) => c[i] ?? Number.NaN))),
    }),
    ...(names.length > 0 && {
      more: Object.fromEntries(names.map((n) => [n, mean(measured.map((m) => m.more?.[n] ?? Number.NaN))])),
    }),
  };
}

/** Names of the settings whose chosen number is the lowest or highest of two or more that a grid tries, each setting by itself. */
export function settingsAtEdge(grid: readonly Choice[], chosen: Choice): readonly string[] {
  return Object.entries(chosen).flatMap(([name, value]) => {
    const tried = new Set(grid.map((choice) => choice[name]));
    const numbers = [...tried].filter((x) => typeof x === "number");
    const isEnd = value === Math.min(...numbers) || value === Math.max(...numbers);
    return isEnd && numbers.length >= 2 ? [name] : [];
  });
}

/** A choice that did best on fewer seeds may have been lucky. */
const fewestTuningSeeds = 5;
/** Largest difference between the arms' costs, as shares of the larger. */
const tolerance = { episodes: 0.05, tokens: 0.3 } as const;

function requireTuning({ id, tuningSeeds = fewestTuningSeeds, baseline }: Check): void {
  if (baseline.grid.length === 1 || tuningSeeds >= fewestTuningSeeds) return;
  throw new WhetstoneError("config.invalid", {
    where: `check "${id}"`,
    got: `${tuningSeeds} tuning seeds`,
    expected: `${fewestTuningSeeds} or more`,
    fix: "Leave tuningSeeds out, or raise it.",
  });
}

/** @param tokens whether tokens have to be about equal too, and not only episodes. */
function requireEqualCost(
  { id, unequalCost }: Check,
  baseline: readonly Measured[],
  method: readonly Measured[],
  tokens: boolean,
): void {
  if (unequalCost !== undefined) return;
  for (const kind of tokens ? (["episodes", "tokens"] as const) : (["episodes"] as const)) {
    const [b, m] = [baseline, method].map((arm) => mean(arm.map(({ cost }) => cost[kind])));
    if (Math.abs(m! - b!) <= tolerance[kind] * Math.max(b!, m!)) continue;
    throw new WhetstoneError("config.invalid", {
      where: `check "${id}"`,
      got: `${b} ${kind} for the baseline and ${m} for the method`,
      expected: `the same budget for both, within ${tolerance[kind] * 100} %`,
      fix: `Give both the same number of ${kind}, or say in \`unequalCost\` why they differ.`,
    });
  }
}

/** Whether the median of an arm's values lies within 2 % of the floor or the ceiling of its metric. */
export function isAtEnd(values: readonly number[], range: Check["range"]): boolean {
  if (range === "unbounded") return false;
  const [low, high] = range;
  const edge = 0.02 * (high - low);
  return median(values) <= low + edge || median(values) >= high - edge;
}

/** A tuned baseline at floor or ceiling cannot win, or cannot be beaten: the world shows nothing. */
function requireRoom({ id, range }: Check, baseline: readonly Measured[]): void {
  const values = baseline.map(({ value }) => value);
  const got = values.every((value) => value === values[0])
    ? `a tuned baseline of ${values[0]} in every seed`
    : isAtEnd(values, range)
      ? `a tuned baseline with a median of ${median(values)} in a range from ${range[0]} to ${range[1]}`
      : undefined;
  if (got === undefined) return;
  throw new WhetstoneError("config.invalid", {
    where: `check "${id}"`,
    got,
    expected: "a world in which the baseline learns something, and not everything",
    fix: "Make the world easier or harder, or give the baseline the information that it lacks.",
  });
}
