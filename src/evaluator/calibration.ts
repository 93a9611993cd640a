/** Whether probabilities are borne out, and two ways to correct them. */
import { logSigmoid, sigmoid } from "../common/statistics/logistic.ts";
import { mean } from "../common/statistics/statistics.ts";

/** Forecasts of about the same probability, and how often they came true. */
export interface CalibrationBin {
  /** Mean forecast. */
  readonly said: number;
  /** Share, or mean outcome. */
  readonly came: number;
  readonly n: number;
}

/** The calibration curve: forecasts in bins of equal width, without the empty ones. @param outcomes in [0, 1]. */
export function calibrationCurve(
  forecasts: readonly number[],
  outcomes: readonly number[],
  bins = 10,
): readonly CalibrationBin[] {
  const at = forecasts.map((_, i) => i);
  const binned = Map.groupBy(at, (i) => Math.min(bins - 1, Math.floor(forecasts[i]! * bins)));
  return [...binned]
    .sort(([a], [b]) => a - b)
    .map(([, within]) => ({
      said: mean(within.map((i) => forecasts[i]!)),
      came: mean(within.map((i) => outcomes[i]!)),
      n: within.length,
    }));
}

/** Mean distance between what was said and what came, over all forecasts. */
export function expectedCalibrationError(curve: readonly CalibrationBin[]): number {
  const n = curve.reduce((sum, bin) => sum + bin.n, 0);
  return curve.reduce((sum, { said, came, n: own }) => sum + (own / n) * Math.abs(said - came), 0);
}

/** Corrects a forecast. */
export type Recalibration = (forecast: number) => number;

/** Forecasts that isotonic regression corrects to one level. */
export interface IsotonicStep {
  /** The lowest of them, and the highest. */
  readonly from: number;
  readonly to: number;
  readonly level: number;
}

/** Isotonic regression: the rising step function nearest to the outcomes in least squares, by pooling neighbours that fall. */
export function isotonicSteps(
  forecasts: readonly number[],
  outcomes: readonly number[],
): readonly IsotonicStep[] {
  const at = forecasts.map((_, i) => i);
  const equal = [...Map.groupBy(at, (i) => forecasts[i]!)].sort(([a], [b]) => a - b);
  const steps: (IsotonicStep & { readonly n: number })[] = [];
  for (const [x, within] of equal) {
    let step = { from: x, to: x, level: mean(within.map((i) => outcomes[i]!)), n: within.length };
    for (let last = steps.at(-1); last && last.level >= step.level; last = steps.at(-1)) {
      const n = last.n + step.n;
      step = { from: last.from, to: step.to, level: (last.level * last.n + step.level * step.n) / n, n };
      steps.pop();
    }
    steps.push(step);
  }
  return steps.map(({ from, to, level }) => ({ from, to, level }));
}

/** The level of a forecast's step; linear between two steps, constant beyond the outermost ones. */
export const alongSteps =
  (steps: readonly IsotonicStep[]): Recalibration =>
  (x) => {
    const above = steps.findIndex(({ to }) => x <= to);
    if (above < 0) return steps.at(-1)?.level ?? x;
    const [step, below] = [steps[above]!, steps[above - 1]];
    if (x >= step.from || !below) return step.level;
    const share = (x - below.to) / (step.from - below.to);
    return below.level + share * (step.level - below.level);
  };

/** The correction by {@link isotonicSteps}. */
export const isotonic = (forecasts: readonly number[], outcomes: readonly number[]): Recalibration =>
  alongSteps(isotonicSteps(forecasts, outcomes));

/** Forecasts nearer to 0 and 1 count as this far from them: their odds are finite. */
const edge = 1e-3;

const logOdds = (p: number): number => {
  const within = Math.min(1 - edge, Math.max(edge, p));
  return Math.log(within / (1 - within));
};

/** A forecast at a temperature: σ(logit(p) / T). Above 1 it moves towards ½. */
export const atTemperature = (p: number, temperature: number): number => sigmoid(logOdds(p) / temperature);

/** Temperatures are looked for up to here, and down to its inverse. */
const largestTemperature = 50;

/** The temperature between 1/50 and 50 at which the outcomes are most likely (the loss is convex in 1/T: golden section). */
export function fittedTemperature(forecasts: readonly number[], outcomes: readonly number[]): number {
  const odds = forecasts.map(logOdds);
  const loss = (log: number): number => {
    const scale = Math.exp(-log);
    return -odds.reduce(
      (sum, z, i) => sum + outcomes[i]! * logSigmoid(z * scale) + (1 - outcomes[i]!) * logSigmoid(-z * scale),
      0,
    );
  };
  const golden = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [-Math.log(largestTemperature), Math.log(largestTemperature)];
  while (high - low > 1e-6) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)];
    if (loss(left) <= loss(right)) high = right;
    else low = left;
  }
  return Math.exp((low + high) / 2);
}

/** Whether no better temperature lies beyond those that are looked for. */
export const isWithinSearch = (temperature: number): boolean =>
  Math.abs(Math.log(temperature)) < Math.log(largestTemperature) - 1e-3;

/** The correction by {@link fittedTemperature}. */
export function cooled(forecasts: readonly number[], outcomes: readonly number[]): Recalibration {
  const temperature = fittedTemperature(forecasts, outcomes);
  return (p) => atTemperature(p, temperature);
}

/**
 * Forecasts corrected by what the others came to: each of the folds by a correction that was fitted without it.
 * @param fold of each forecast.
 */
export function crossFitted(
  forecasts: readonly number[],
  outcomes: readonly number[],
  fold: readonly number[],
  fit: (forecasts: readonly number[], outcomes: readonly number[]) => Recalibration,
): readonly number[] {
  const corrections = new Map(
    [...new Set(fold)].map((own) => {
      const others = forecasts.map((_, i) => i).filter((i) => fold[i] !== own);
      return [
        own,
        fit(
          others.map((i) => forecasts[i]!),
          others.map((i) => outcomes[i]!),
        ),
      ];
    }),
  );
  return forecasts.map((x, i) => corrections.get(fold[i]!)!(x));
}
