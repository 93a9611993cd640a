/** Which correction of a judge's scores is worth to be kept. */
import { mean } from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
import type { Interval } from "../core/interval.ts";
import { jackknifeInterval } from "./agreement.ts";
import {
  alongSteps,
  atTemperature,
  cooled,
  crossFitted,
  fittedTemperature,
  type IsotonicStep,
  isotonic,
  isotonicSteps,
  isWithinSearch,
  type Recalibration,
} from "./calibration.ts";

/** What a judge said, in [0, 1], and what people said. */
export interface Forecast {
  readonly group: string;
  readonly p: number;
  readonly better: boolean;
}

/** A correction as data. */
export type Correction =
  | { readonly by: "temperature"; readonly temperature: number }
  | { readonly by: "isotonic"; readonly steps: readonly IsotonicStep[] };

/** What a correction makes of a score. */
export const recalibration = (correction: Correction): Recalibration =>
  correction.by === "temperature"
    ? (p) => atTemperature(p, correction.temperature)
    : alongSteps(correction.steps);

const folds = 5;

/** Why labels show no calibration; undefined where they do. */
export function whyUnfit(all: readonly Forecast[]): string | undefined {
  const groups = new Set(all.map(({ group }) => group)).size;
  if (groups < folds) return `labels of ${counted(groups, "group")}; ${folds} are needed`;
  if (new Set(all.map(({ better }) => better)).size < 2) return "all labels are the same";
  if (new Set(all.map(({ p }) => p)).size < 2) return "the judge always says the same";
  return undefined;
}

/** The fold of each forecast: groups stay whole. */
export function foldsOf(all: readonly Forecast[]): readonly number[] {
  const groups = new Map([...new Set(all.map(({ group }) => group))].map((group, at) => [group, at % folds]));
  return all.map(({ group }) => groups.get(group)!);
}

/** The better of two corrections, or why there is none. */
export type FittedCorrection =
  | {
      readonly correction: Correction;
      /** Mean squared distance to the labels (Brier score), without the correction. */
      readonly before: number;
      /** With a correction that was fitted to other labels. */
      readonly after: number;
      /** Before less after, with an interval at 95 % that leaves out whole groups. It is above 0, and of the better of two. */
      readonly gain: Interval;
    }
  | { readonly why: string };

/**
 * A temperature or isotonic regression, whichever comes nearer to labels that it was not fitted to, fitted to all. There is none
 * where neither is nearer than the judge's own numbers by more than chance, nor nearer than one number for all.
 */
export function fitCorrection(all: readonly Forecast[]): FittedCorrection {
  const unfit = whyUnfit(all);
  if (unfit !== undefined) return { why: unfit };
  const [p, y] = [all.map((one) => one.p), all.map(({ better }) => Number(better))];
  const fold = foldsOf(all);
  const temperature = fittedTemperature(p, y);
  const candidates = [
    ...(isWithinSearch(temperature)
      ? [{ fit: cooled, whole: { by: "temperature", temperature } as const }]
      : []),
    { fit: isotonic, whole: { by: "isotonic", steps: isotonicSteps(p, y) } as const },
  ].map(({ fit, whole }) => ({ whole, corrected: crossFitted(p, y, fold, fit) }));
  const squares = (said: readonly number[]): readonly number[] => said.map((x, i) => (x - y[i]!) ** 2);
  const { whole, after } = candidates
    .map(({ whole, corrected }) => ({ whole, after: squares(corrected) }))
    .reduce((a, b) => (mean(b.after) < mean(a.after) ? b : a));
  const nearerThan = (others: readonly number[]): Interval =>
    jackknifeInterval(
      all.map(({ group }, i) => ({ group, by: others[i]! - after[i]! })),
      ({ group }) => group,
      (some) => mean(some.map(({ by }) => by)),
    );
  const before = squares(p);
  const gain = nearerThan(before);
  if (gain.low <= 0)
    return { why: "no correction is nearer to the labels than the judge's own numbers by more than chance" };
  const shares = crossFitted(p, y, fold, (_, others) => () => mean(others));
  if (nearerThan(squares(shares)).low <= 0)
    return {
      why: "one number for all replies is as near to the labels as any correction: the judge tells too little",
    };
  return { correction: whole, before: mean(before), after: mean(after), gain };
}
