/** Decides to promote, hold or roll back from live evidence; valid at any number of looks. */

import { studentCdf } from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import { type Guardrail, sayBound } from "./guardrails.ts";
import { boundedComparison, type Limit, type MeanComparison, unboundedComparison } from "./meanComparison.ts";

/** One unit, reported twice: when it settles, and when its window closes, each in order. */
export interface UnitOutcome {
  readonly arm: "candidate" | "baseline";
  /** True for the first report: feedback may still arrive, and it does not count as a unit yet. */
  readonly early?: boolean;
  /** Absent: no feedback. That is a missing value, not 0. */
  readonly reward?: number;
  /** By guardrail; absent where it does not apply. */
  readonly measures: Readonly<Record<string, number>>;
}

/** Settings of {@link sequentialDecision}: what counts as harm, what as an improvement, and how often it may be wrong. */
export interface DecisionOptions {
  readonly guardrails?: readonly Guardrail[];
  /** Range of a reward. Default [0, 1]. `undefined` if unbounded. */
  readonly range?: readonly [low: number, high: number] | undefined;
  /**
   * Probability of any wrong promotion or rollback, over all looks and guardrails together, if the versions are equal.
   * Half of it goes to the reward, the rest is divided among the guardrails. Default 0.05.
   */
  readonly level?: number;
  /** Minimum improvement to promote; negative: a non-inferiority margin. Default 0. */
  readonly minimumEffect?: number;
}

/**
 * What was observed of one version: its number of units and their mean reward. Units without feedback are not in the mean.
 */
export interface CandidateOrBaseline {
  readonly units: number;
  /** Units with a reward, and their mean. */
  readonly rewarded: number;
  readonly mean: number;
}

/** Means of one metric for candidate and baseline so far, and whether the bound is kept. */
export interface GuardrailState {
  readonly name: string;
  readonly candidate: number;
  readonly baseline: number;
  readonly bound: string;
  /** "broken" and "kept" are statistically shown; "open" is undecided. */
  readonly state: "broken" | "open" | "kept";
}

/** The decision about a candidate, the reason for it, and the numbers behind it. */
export interface Decision {
  readonly decision: "promote" | "hold" | "roll back";
  readonly why: string;
  readonly candidate: CandidateOrBaseline;
  readonly baseline: CandidateOrBaseline;
  /** Difference of mean rewards, candidate − baseline, valid at every look at this confidence. */
  readonly difference: Interval;
  readonly confidence: number;
  readonly guardrails: readonly GuardrailState[];
  /** Reasons to be careful with the comparison. */
  readonly doubts: readonly string[];
}

/** The bound as a linear function of the baseline's mean, both divided by `scale`. */
function limitOf({ bound: { kind, value } }: Guardrail, scale: number): Limit {
  switch (kind) {
    case "absolute":
      return () => value / scale;
    case "difference":
      return (baseline) => baseline + value / scale;
    case "factor":
      return (baseline) => baseline * value;
  }
}

interface Watched {
  readonly guardrail: Guardrail;
  readonly arms: MeanComparison;
  readonly scale: number;
}

/** Sequential evidence, unit by unit. */
export interface SequentialDecision {
  see(outcome: UnitOutcome): void;
  /** Only the decision, which is cheap. */
  decision(): Decision["decision"];
  judgement(): Decision;
}

/**
 * Rolls a candidate back as soon as a guardrail is shown to be broken or the mean reward to be lower, promotes it as soon
 * as the mean reward is shown to be higher, and holds otherwise. All tests are valid at every look together: bounded numbers
 * by betting (exact), others by asymptotic confidence sequences; see arms.ts. All units have equal weight, whatever their
 * number of responses, and count for their first version (intention to treat).
 */
export function sequentialDecision(options: DecisionOptions = {}): SequentialDecision {
  const { guardrails = [], level = 0.05, minimumEffect = 0 } = options;
  const range = "range" in options ? options.range : ([0, 1] as const);
  const [low, scale] = range ? [range[0], range[1] - range[0]] : [0, 1];
  const error = level / 2;
  const alpha = error / Math.max(1, guardrails.length);
  const rewards = range ? boundedComparison(error / 2) : unboundedComparison();
  const watched = guardrails.map((guardrail): Watched => {
    const bounded = guardrail.most !== undefined;
    return {
      guardrail,
      arms: bounded ? boundedComparison(alpha) : unboundedComparison(),
      scale: guardrail.most ?? 1,
    };
  });
  const units = { candidate: 0, baseline: 0 };
  const sideOf = (arm: "candidate" | "baseline"): CandidateOrBaseline => ({
    units: units[arm],
    rewarded: rewards[arm].n,
    mean: low + scale * rewards[arm].mean,
  });
  const above: Limit = (m) => m + minimumEffect / scale;
  const below: Limit = (m) => m + Math.min(0, minimumEffect) / scale;
  function decided(): Pick<Decision, "decision" | "why"> {
    const broken = watched.filter((w) => isBroken(w, alpha)).map((w) => w.guardrail.name);
    if (broken.length > 0) return { decision: "roll back", why: `guardrail ${broken.join(", ")} broken` };
    if (rewards.shown("below", below, error / 2))
      return { decision: "roll back", why: "the mean reward is lower" };
    if (!rewards.shown("above", above, error / 2))
      return { decision: "hold", why: "neither is shown to be better yet" };
    const by = `${minimumEffect > 0 ? "+" : "−"} ${Math.abs(minimumEffect)}`;
    const than = minimumEffect === 0 ? "" : ` than the baseline's ${by}`;
    return { decision: "promote", why: `the mean reward is higher${than}` };
  }
  return {
    see({ arm, reward, measures, early = false }) {
      if (!early) units[arm]++;
      if (reward !== undefined) rewards.see(arm, (reward - low) / scale);
      for (const { guardrail, arms, scale: most } of watched) {
        const x = measures[guardrail.name];
        if (x !== undefined) arms.see(arm, x / most);
      }
    },
    decision: () => decided().decision,
    judgement() {
      const [candidate, baseline] = [sideOf("candidate"), sideOf("baseline")];
      const { mean, low: least, high: most, n } = rewards.difference(error);
      return {
        ...decided(),
        candidate,
        baseline,
        difference: { mean: scale * mean, low: scale * least, high: scale * most, n },
        confidence: 1 - error,
        guardrails: watched.map((w) => stateOf(w, alpha)),
        doubts: doubtsOf(candidate, baseline),
      };
    },
  };
}

const isBroken = ({ guardrail, arms, scale }: Watched, alpha: number): boolean =>
  arms.shown(guardrail.worse === "higher" ? "above" : "below", limitOf(guardrail, scale), alpha);
const isKept = ({ guardrail, arms, scale }: Watched, alpha: number): boolean =>
  arms.shown(guardrail.worse === "higher" ? "below" : "above", limitOf(guardrail, scale), alpha);

function stateOf(watched: Watched, alpha: number): GuardrailState {
  const { guardrail, arms, scale } = watched;
  return {
    name: guardrail.name,
    candidate: scale * arms.candidate.mean,
    baseline: scale * arms.baseline.mean,
    bound: sayBound(guardrail.bound),
    state: isBroken(watched, alpha) ? "broken" : isKept(watched, alpha) ? "kept" : "open",
  };
}

/** Only units with feedback are compared. If one version makes more users answer, the groups are not comparable. */
function doubtsOf(candidate: CandidateOrBaseline, baseline: CandidateOrBaseline): string[] {
  const [n, m] = [candidate.units, baseline.units];
  const answering = [candidate.rewarded / n, baseline.rewarded / m] as const;
  const together = (candidate.rewarded + baseline.rewarded) / (n + m);
  const error = Math.sqrt(together * (1 - together) * (1 / n + 1 / m));
  const p = 2 * studentCdf(-Math.abs(answering[0] - answering[1]) / error, n + m);
  if (!(p < 0.001)) return [];
  const percent = (x: number): string => `${(100 * x).toFixed(0)} %`;
  return [
    `feedback comes from ${percent(answering[0])} of the candidate's units and from ${percent(answering[1])} of the ` +
      "baseline's: the means are of different people",
  ];
}
