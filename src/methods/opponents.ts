/** What a method's evidence says of its opponents: the arm that ran, the arms that do as well, and whether the ingredient matters. */
import { isDeepStrictEqual } from "node:util";
import { looks, mean, median, pairedInterval } from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import {
  type Arm,
  type ArmEvidence,
  type Check,
  type CheckEvidence,
  isAtEnd,
  settingsAtEdge,
} from "../train/check.ts";
import type { StoredEvidence } from "./evidence.ts";

/** An arm beside the method, with the paired difference over the reported seeds. */
export interface Opponent {
  readonly name: string;
  readonly what: string;
  /** Mean of the metric over the seeds. */
  readonly value: number;
  /** By how much the method is better, positive also where lower is better; the t interval of the check (97.5 % for a first design). */
  readonly lead: Interval;
}

/**
 * Whether the method's ingredient matters. `matters`: the method beats the best arm that lacks it; `not shown`: the interval holds 0,
 * or the lead is below the smallest effect of interest; `simpler is better`: that arm beats the method; `not asked`: no arm lacks it.
 */
export type Ingredient = "matters" | "not shown" | "simpler is better" | "not asked";

/** Opponents of a method, from its evidence alone. */
export interface Opponents {
  readonly baseline: Opponent;
  /** The best of the arms that lack the ingredient; it may be the baseline. */
  readonly simpler?: Opponent;
  readonly ingredient: Ingredient;
}

export function opponentsOf(e: CheckEvidence): Opponents {
  const baseline = opponent(e, "baseline");
  const others = Object.keys(e.others ?? {}).map((name) => opponent(e, name));
  const [simpler] = [baseline, ...others].filter(({ name }) => e.simpler?.includes(name)).toSorted(byLead);
  return {
    baseline,
    ...(simpler && { simpler }),
    ingredient: simpler ? ingredientOf(simpler.lead, e.smallestEffect) : "not asked",
  };
}

const byLead = (a: Opponent, b: Opponent): number => a.lead.mean - b.lead.mean;

function ingredientOf(lead: Interval, smallestEffect: number): Ingredient {
  if (lead.high < 0) return "simpler is better";
  return lead.low > 0 && lead.mean >= smallestEffect ? "matters" : "not shown";
}

function opponent(e: CheckEvidence, name: string): Opponent {
  const arm = name === "baseline" ? e.baseline : e.others![name]!;
  const [ours, theirs] = [e.method.values, arm.values];
  const { confidence = looks.confidence } = e;
  const lead =
    e.direction === "higher"
      ? pairedInterval(ours, theirs, confidence)
      : pairedInterval(theirs, ours, confidence);
  return { name, what: arm.what, value: mean(theirs), lead };
}

/** Whether the method and its opponent have the same value in every seed: here they are one and the same. */
export const isEqualBySeed = ({ baseline, method }: CheckEvidence): boolean =>
  method.values.every((value, i) => value === baseline.values[i]);

/** What evidence does not keep of a check: its grids and the range of its metric. */
export interface Design extends Pick<Check, "range"> {
  readonly baseline: Pick<Arm, "grid">;
  readonly method: Pick<Arm, "grid">;
  readonly others?: Readonly<Record<string, Pick<Arm, "grid">>>;
}

/** Most by which tokens may differ between two arms that are said to be equal. */
const tokenTolerance = 0.3;

/**
 * What a reader has to know beside the verdict: each a sentence. Derived from the numbers; the check's own notes come on top.
 * @param design the check itself, where it is at hand.
 */
export function caveatsOf(
  e: CheckEvidence & Pick<StoredEvidence, "stated">,
  design?: Design,
): readonly string[] {
  const { simpler, ingredient } = opponentsOf(e);
  const found: string[] = [];
  if (e.baseline.values.every((value) => value === e.baseline.values[0]))
    found.push("The baseline has the same value in every seed: it may be unable to win here.");
  else if (design && isAtEnd(e.baseline.values, design.range))
    found.push(
      `The opponent's median, ${value(median(e.baseline.values))}, lies within 2 % of an end of the metric's range, ${design.range[0]} to ${design.range[1]}: there is little room for a difference.`,
    );
  if (ingredient === "simpler is better" || (ingredient === "not shown" && e.verdict === "reproduced"))
    found.push(
      `The ingredient is not shown to matter: "${simpler!.what}" ${ingredient === "not shown" ? "does about as well" : "does better"}.`,
    );
  const ratio = e.method.cost.tokens / e.baseline.cost.tokens;
  if (e.baseline.cost.tokens > 0 && (ratio > 1 + tokenTolerance || ratio < 1 / (1 + tokenTolerance)))
    found.push(`The method sampled ${ratio.toPrecision(2)} times the tokens of the baseline.`);
  if (e.unequalCost !== undefined) found.push(`Episodes differ: ${e.unequalCost.replace(/\.$/, "")}.`);
  const { tuning } = e.baseline;
  if (tuning.length > 1 && tuning.every((one) => Math.abs(one - tuning[0]!) <= 1e-6 * Math.abs(tuning[0]!)))
    found.push(
      `The opponent has ${value(Number(tuning[0]!.toPrecision(3)))} with each of its ${tuning.length} choices: what was tuned does not move its metric.`,
    );
  // the arm that decides on the ingredient may have been tuned too little as well
  const decides = simpler && simpler.name !== "baseline" ? [simpler.name] : [];
  for (const name of ["baseline", "method", ...decides]) {
    const arm = namedArm<ArmEvidence>(e, name)!;
    const grid = gridThatRan(arm, design && namedArm<Pick<Arm, "grid">>(design, name)?.grid);
    const settings = grid && settingsAtEdge(grid, arm.chosen);
    const who = name === "method" ? "the method" : `"${arm.what}"`;
    if (settings ? settings.length > 0 : arm.atEdge)
      found.push(
        `The best ${settings?.join(" and ") ?? "setting"} of ${who} lies at the edge of its grid: a better one may lie beyond.`,
      );
  }
  if (e.stated)
    found.push(
      `When its seeds were first run, the claim read: "${e.stated.claim}", and the metric: "${e.stated.metric}".`,
    );
  return found;
}

/** An arm by name, "baseline" and "method" among them. */
function namedArm<One>(
  of: {
    readonly baseline: One;
    readonly method: One;
    readonly others?: Readonly<Record<string, One>> | undefined;
  },
  name: string,
): One | undefined {
  return name === "baseline" || name === "method" ? of[name] : of.others?.[name];
}

/** The grid of an arm; undefined where it was edited since, and so is not the one that ran. */
const gridThatRan = (
  { chosen, tuning }: ArmEvidence,
  grid: Arm["grid"] | undefined,
): Arm["grid"] | undefined =>
  grid?.length === Math.max(1, tuning.length) && grid.some((one) => isDeepStrictEqual(one, chosen))
    ? grid
    : undefined;

const value = (x: unknown): string => (typeof x === "number" ? String(x) : JSON.stringify(x));
const whole = (x: number): string => Math.round(x).toLocaleString("en");

/** What was chosen, and among which values: "learningRate 0.3 of 0.1, 0.3, 1". */
function choiceAmong(arm: ArmEvidence, stated: Arm["grid"] | undefined): string {
  const { chosen, tuning } = arm;
  const names = Object.keys(chosen);
  if (names.length === 0) return "nothing to choose";
  const grid = gridThatRan(arm, stated);
  const parts = names.map((name) => {
    const values = [...new Set(grid?.map((one) => value(one[name])))];
    return `${name} ${value(chosen[name])}${values.length > 1 ? ` of ${values.join(", ")}` : ""}`;
  });
  return grid || tuning.length === 0
    ? parts.join("; ")
    : `${parts.join("; ")}, one of ${tuning.length} choices`;
}

/** How the opponent was tuned beside the method, what both cost, and which further arms do as well or better. */
export function conditionsOf(e: CheckEvidence, design?: Design): readonly string[] {
  const arm = (name: "baseline" | "method"): string => {
    const { cost } = e[name];
    const spent = [
      ...(cost.episodes > 0 ? [`${whole(cost.episodes)} episodes`] : []),
      ...(cost.tokens > 0 ? [`${whole(cost.tokens)} tokens`] : []),
    ];
    const mean = value(Number(meanOf(e[name]).toPrecision(3)));
    return `${mean} with ${choiceAmong(e[name], design?.[name].grid)}${spent.length > 0 ? ` (${spent.join(", ")} a run)` : ""}`;
  };
  const tuned =
    e.tuningSeeds === undefined
      ? ""
      : ` Chosen on ${e.tuningSeeds} other seed${e.tuningSeeds === 1 ? "" : "s"}.`;
  const others = Object.keys(e.others ?? {})
    .map((name) => opponent(e, name))
    .toSorted(byLead)
    .map(({ what, lead: { mean: by, low, high } }) => ({ what, by: { mean: -by, low: -high, high: -low } }));
  const better = others.filter(({ by }) => by.low > 0).map(({ what, by }) => `"${what}" by ${interval(by)}`);
  const isSame = ({ by }: (typeof others)[number]): boolean => by.low === 0 && by.high === 0;
  const same = others.filter(isSame).map(({ what }) => `"${what}"`);
  const alike = others
    .filter((other) => !isSame(other) && other.by.low <= 0 && other.by.high >= 0)
    .map(({ what, by }) => `"${what}", at ${interval(by)}`);
  return [
    `Opponent ${arm("baseline")}; method ${arm("method")}.${tuned}`,
    ...(better.length > 0 ? [`Better than the method: ${better.join("; ")}.`] : []),
    ...(same.length > 0 ? [`Equal to the method in every seed: ${same.join("; ")}.`] : []),
    ...(alike.length > 0 ? [`Not told apart from the method: ${alike.join("; ")}.`] : []),
    ...(others.length === 0 ? ["No further arm ran."] : []),
  ];
}

const meanOf = ({ values }: ArmEvidence): number => mean(values);

/** Three significant digits, with a sign; a rest of rounding is 0. */
const signed = (x: number): string =>
  Math.abs(x) < 1e-9 ? "0" : `${x > 0 ? "+" : ""}${Number(x.toPrecision(3))}`;

/** A difference with its interval: "+0.2 [+0.1, +0.3]". */
export const interval = ({ mean: middle, low, high }: Pick<Interval, "mean" | "low" | "high">): string =>
  `${signed(middle)} [${signed(low)}, ${signed(high)}]`;
