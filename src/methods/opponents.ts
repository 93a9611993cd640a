/** What a method's evidence says of its opponents: the arm that ran, the best other arm, and whether the ingredient matters. */
import { looks, mean, pairedInterval } from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import type { CheckEvidence } from "../train/check.ts";

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
  /** The best of all further arms, variants and upper bounds included. */
  readonly best?: Opponent;
  readonly ingredient: Ingredient;
}

export function opponentsOf(e: CheckEvidence): Opponents {
  const baseline = opponent(e, "baseline");
  const others = Object.keys(e.others ?? {}).map((name) => opponent(e, name));
  const [best] = others.toSorted(byLead);
  const [simpler] = [baseline, ...others].filter(({ name }) => e.simpler?.includes(name)).toSorted(byLead);
  return {
    baseline,
    ...(simpler && { simpler }),
    ...(best && { best }),
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

/** Most by which tokens may differ between two arms that are said to be equal. */
const tokenTolerance = 0.3;

/** What a reader has to know beside the verdict: each a sentence. Derived from the numbers; the check's own notes come on top. */
export function caveatsOf(e: CheckEvidence): readonly string[] {
  const { baseline, simpler, best, ingredient } = opponentsOf(e);
  const found: string[] = [];
  if (e.baseline.values.every((value) => value === e.baseline.values[0]))
    found.push("The baseline has the same value in every seed: it may be unable to win here.");
  if (ingredient === "simpler is better" || (ingredient === "not shown" && e.verdict === "reproduced"))
    found.push(
      `The ingredient is not shown to matter: "${simpler!.what}" ${ingredient === "not shown" ? "does about as well" : "does better"}.`,
    );
  if (best && best.name !== simpler?.name && best.lead.high < 0)
    found.push(`Another arm does better than the method: "${best.what}".`);
  const ratio = e.method.cost.tokens / e.baseline.cost.tokens;
  if (e.baseline.cost.tokens > 0 && (ratio > 1 + tokenTolerance || ratio < 1 / (1 + tokenTolerance)))
    found.push(`The method sampled ${ratio.toPrecision(2)} times the tokens of the baseline.`);
  if (e.unequalCost !== undefined) found.push(`Episodes differ: ${e.unequalCost}.`);
  for (const [arm, name] of [[e.baseline, baseline.what] as const, [e.method, "the method"] as const])
    if (arm.atEdge)
      found.push(`The best setting of ${name} lies at the edge of its grid: a better one may lie beyond.`);
  return found;
}
