/** Several judges as one: their mean or their majority, or nothing where they disagree. */
import { mean } from "../common/statistics/statistics.ts";
import type { JudgeCall } from "./judgeCall.ts";
import type { JudgedLabel } from "./judgeTrial.ts";

/** How judges decide together. */
export interface EnsembleRule {
  /** "mean" of their numbers, or "majority": the share of those that are above one half, a tie counting half. */
  readonly vote: "mean" | "majority";
  /**
   * They abstain where they disagree by more than this, in [0, 1]: for a mean, the largest number less the smallest; for a
   * majority, the share of judges that do not go with the largest party. 1: never.
   */
  readonly abstain: number;
}

/** What one call of each judge comes to. Judges without an answer do not count; more than half must have one. */
export function ensembleCall(calls: readonly JudgeCall[], { vote, abstain }: EnsembleRule): JudgeCall {
  const ms = Math.max(...calls.map((call) => call.ms)); // they are asked at the same time
  const values = calls.flatMap(({ value }) => (value === undefined ? [] : [value]));
  const lost = calls.find(({ outcome }) => outcome !== "answered");
  if (lost && 2 * values.length <= calls.length) return { ...lost, ms };
  if (vote === "mean") {
    const spread = Math.max(...values) - Math.min(...values);
    return spread > abstain
      ? abstained(ms, `answers ${spread} apart`)
      : { outcome: "answered", value: mean(values), ms };
  }
  if (values.some((x) => x < 0 || x > 1))
    return { outcome: "off schema", ms, why: "a majority needs numbers from 0 to 1" };
  const votes = values.map((x) => (x > 0.5 ? 1 : x < 0.5 ? 0 : 0.5));
  const largest = Math.max(...[0, 0.5, 1].map((party) => votes.filter((own) => own === party).length));
  const others = 1 - largest / votes.length;
  return others > abstain
    ? abstained(ms, `${Math.round(others * votes.length)} of ${votes.length} judges disagree`)
    : { outcome: "answered", value: mean(votes), ms };
}

const abstained = (ms: number, why: string): JudgeCall => ({ outcome: "abstained", ms, why });

/** The trial of the judges together, from the trial of each: no further call is needed. @param trials one for each judge. */
export function ensembleTrial(
  trials: readonly (readonly JudgedLabel[])[],
  rule: EnsembleRule,
): readonly JudgedLabel[] {
  const [first = []] = trials;
  return first.map(({ backward, rephrased, repeats }, at) => {
    const own = trials.map((trial) => trial[at]!);
    return {
      forward: ensembleCall(
        own.map(({ forward }) => forward),
        rule,
      ),
      ...(backward && {
        backward: ensembleCall(
          own.flatMap((one) => (one.backward ? [one.backward] : [])),
          rule,
        ),
      }),
      ...(rephrased && {
        rephrased: ensembleCall(
          own.flatMap((one) => (one.rephrased ? [one.rephrased] : [])),
          rule,
        ),
      }),
      repeats: repeats.map((_, r) =>
        ensembleCall(
          own.map((one) => one.repeats[r]!),
          rule,
        ),
      ),
    };
  });
}
