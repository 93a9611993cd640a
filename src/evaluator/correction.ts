/** Which correction of a judge's scores is worth keeping. */
import { mean } from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
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

/** Parts of labels, each of which is measured on what was fitted to the others. */
export const folds = 5;

/** Why labels show no calibration; undefined where they do. */
export function whyUncalibrated(all: readonly Forecast[]): string | undefined {
  const groups = new Set(all.map(({ group }) => group)).size;
  if (groups < folds) return `labels of ${counted(groups, "group")}; ${folds} are needed`;
  if (new Set(all.map(({ better }) => better)).size < 2) return "all labels are the same";
  if (new Set(all.map(({ p }) => p)).size < 2) return "the judge always says the same";
  return undefined;
}

/** The fold of each label, from its group: groups stay whole. */
export function foldsOf(all: readonly string[]): readonly number[] {
  const fold = new Map([...new Set(all)].map((group, at) => [group, at % folds]));
  return all.map((group) => fold.get(group)!);
}

/** The better of two corrections, or why there is none. */
export type FittedCorrection =
  | {
      readonly correction: Correction;
      /** Mean squared error (Brier score) without the correction. */
      readonly before: number;
      /** With one that was fitted to other labels. */
      readonly after: number;
      /** What is at least gained, at 95 %: above 0. */
      readonly gain: number;
    }
  | { readonly why: string };

/**
 * A temperature or isotonic regression, whichever has the smaller mean squared error on labels that it was not fitted to, fitted to
 * all. There is none unless that error is smaller than the judge's own, and smaller than that of one number for all, both by more
 * than chance: by intervals that leave out whole groups, with one more label that goes against the correction as far as one can, since
 * labels without a single miss show no spread.
 */
export function fitCorrection(all: readonly Forecast[]): FittedCorrection {
  const unfit = whyUncalibrated(all);
  if (unfit !== undefined) return { why: unfit };
  const [p, y] = [all.map((one) => one.p), all.map(({ better }) => Number(better))];
  const fold = foldsOf(all.map(({ group }) => group));
  const temperature = fittedTemperature(p, y);
  const candidates = [
    ...(isWithinSearch(temperature)
      ? [{ fit: cooled, whole: { by: "temperature", temperature } as const }]
      : []),
    { fit: isotonic, whole: { by: "isotonic", steps: isotonicSteps(p, y) } as const },
  ].map(({ fit, whole }) => ({ whole, corrected: crossFitted(p, y, fold, fit) }));
  const square = (x: number, came: number): number => (x - came) ** 2;
  const errorOf = (said: readonly number[]): number => mean(said.map((x, i) => square(x, y[i]!)));
  const { whole, corrected } = candidates.reduce((a, b) =>
    errorOf(b.corrected) < errorOf(a.corrected) ? b : a,
  );
  const leastGain = (others: readonly number[]): number => {
    const gain = (i: number, came: number): number => square(others[i]!, came) - square(corrected[i]!, came);
    const against = all.reduce((least, _, i) => Math.min(least, gain(i, 1 - y[i]!)), 0);
    return jackknifeInterval(
      [...all.map(({ group }, i) => ({ group, by: gain(i, y[i]!) })), { group: "\0 one more", by: against }],
      ({ group }) => group,
      (some) => mean(some.map(({ by }) => by)),
    ).low;
  };
  const gain = leastGain(p);
  if (!(gain > 0)) return { why: "no correction is better than the judge's own scores by more than chance" };
  const shares = crossFitted(p, y, fold, (_, others) => () => mean(others));
  if (!(leastGain(shares) > 0))
    return { why: "no correction is better than one number for all replies by more than chance" };
  return { correction: whole, before: errorOf(p), after: errorOf(corrected), gain };
}
