/** What a trial says of a judge: agreement with people, calibration, consistency, biases, and what its calls came to. */
import { mean, wilsonInterval } from "../common/statistics/statistics.ts";
import type { Interval } from "../core/interval.ts";
import { areaInterval, clusteredShare, jackknifeInterval, kappaInterval } from "./agreement.ts";
import { type Bias, biasesOf, replyFeatures } from "./bias.ts";
import {
  type CalibrationBin,
  calibrationCurve,
  cooled,
  crossFitted,
  expectedCalibrationError,
  fittedTemperature,
  isotonic,
  isWithinSearch,
} from "./calibration.ts";
import { type Forecast, foldsOf, whyUncalibrated } from "./correction.ts";
import type { CallOutcome, JudgeCall } from "./judgeCall.ts";
import type { JudgedLabel } from "./judgeTrial.ts";
import { groupOf, type Labels, type PairLabel, type ReplyLabel } from "./labels.ts";

export interface Calibration {
  readonly curve: readonly CalibrationBin[];
  /** Expected calibration error over the curve; its interval, as those below, leaves out whole groups of labels. */
  readonly error: Interval;
  /** The temperature that fits all labels best; undefined where none from 1/50 to 50 does, and the best lies beyond. */
  readonly temperature?: number;
  /** The error after each correction, fitted on the other four fifths of the groups. */
  readonly corrected: { readonly temperature: Interval; readonly isotonic: Interval };
}

/** What a trial came to. Intervals without another statement are at 95 %. */
export interface JudgeReport {
  readonly labels: number;
  /** Labels with all answers that agreement needs. */
  readonly judged: number;
  /** Undefined, as kappa and calibration are, where a score of a single reply is outside of [0, 1]: no threshold is its own. */
  readonly accuracy?: Interval;
  readonly kappa?: Interval;
  readonly auc: Interval;
  /** Undefined where scores are not in [0, 1], and for the reason of `uncalibrated`. */
  readonly calibration?: Calibration;
  /** Why the labels show no calibration. */
  readonly uncalibrated?: string;
  /** Share of pairs whose choice stays when the replies change places; undefined for single replies. */
  readonly swap?: Interval;
  /** Share of repeated calls with the choice of the first one; undefined where scores are outside of [0, 1]. */
  readonly repetition?: Interval;
  /** Share of labels with the same choice in other words; undefined where no label has any, or as for repeated calls. */
  readonly rephrasing?: Interval;
  readonly biases: readonly Bias[];
  /** Confidence of each interval of a bias, so that all hold together at 99 %. */
  readonly biasConfidence: number;
  readonly calls: Readonly<Record<CallOutcome, number>>;
  /** Of the calls that were answered. */
  readonly meanMs: number;
  /** What the first call that was not answered said. */
  readonly firstFailure?: string;
}

/** The report on a trial. @param judged the calls about each label, in the order of the labels. */
export function judgeReport(labels: Labels, judged: readonly JudgedLabel[]): JudgeReport {
  return labels.kind === "pairs" ? pairReport(labels.labels, judged) : replyReport(labels.labels, judged);
}

const choiceOf = (p: number): PairLabel["preferred"] => (p > 0.5 ? "a" : p < 0.5 ? "b" : "tie");

/** Over both orders, so that a preference for a position cancels out of everything but itself. */
function pairReport(labels: readonly PairLabel[], judged: readonly JudgedLabel[]): JudgeReport {
  const known = labels.flatMap((label, i) => {
    const [forward, backward] = [judged[i]!.forward.value, judged[i]!.backward?.value];
    if (forward === undefined || backward === undefined) return [];
    return [{ label, group: groupOf(label), forward, backward, p: (forward + backward) / 2 }];
  });
  const clusters = known.map(({ group }) => group);
  const sign = { a: 1, b: -1, tie: 0 } as const;
  const side = ({ own }: PairLabel): number => (own === undefined ? 0 : sign[own]);
  const decided = known.filter(({ label }) => label.preferred !== "tie");
  // each pair once from either side: what is called a is of no consequence
  const sides = decided.flatMap(({ label, group, p }) => [
    { group, p, better: label.preferred === "a" },
    { group, p: 1 - p, better: label.preferred === "b" },
  ]);
  const { biases, confidence } = biasesOf(
    {
      judged: known.map(({ p }) => p - 0.5),
      given: [known.map(({ label }) => sign[label.preferred] / 2)],
      columns: [
        ...replyFeatures.map(({ name, unit, of }) => ({
          name,
          unit,
          values: known.map(({ label }) => of(label.a) - of(label.b)),
        })),
        { name: "self-preference", unit: selfUnit, values: known.map(({ label }) => side(label)) },
      ],
      clusters,
    },
    { excess: known.map(({ forward, backward }) => (forward - backward) / 2), clusters },
  );
  const choices = known.map(({ p }) => choiceOf(p));
  const people = known.map(({ label }) => label.preferred);
  return {
    labels: labels.length,
    judged: known.length,
    accuracy: agreement(choices, people, clusters),
    kappa: kappaInterval(choices, people, clusters),
    auc: areaOf(sides),
    ...calibrated(sides),
    swap: clusteredShare(
      known.map(({ forward, backward }) => choiceOf(forward) === choiceOf(backward)),
      clusters,
    ),
    ...consistent(labels, judged, choiceOf),
    biases,
    biasConfidence: confidence,
    ...callsOf(judged),
  };
}

/** The labels of single replies that were answered. */
export const answeredReplies = (labels: readonly ReplyLabel[], judged: readonly JudgedLabel[]) =>
  labels.flatMap((label, i) => {
    const p = judged[i]!.forward.value;
    return p === undefined ? [] : [{ label, group: groupOf(label), p, better: label.label === 1 }];
  });

function replyReport(labels: readonly ReplyLabel[], judged: readonly JudgedLabel[]): JudgeReport {
  const known = answeredReplies(labels, judged);
  const clusters = known.map(({ group }) => group);
  const { biases, confidence } = biasesOf({
    judged: known.map(({ p }) => p),
    given: [known.map(() => 1), known.map(({ label }) => label.label)],
    columns: [
      ...replyFeatures.map(({ name, unit, of }) => ({
        name,
        unit,
        values: known.map(({ label }) => of(label.reply)),
      })),
      {
        name: "self-preference",
        unit: selfUnit,
        values: known.map(({ label }) => Number(label.own === true)),
      },
    ],
    clusters,
  });
  const verdict = (p: number): string => String(Number(p >= 0.5));
  const choices = known.map(({ p }) => verdict(p));
  const people = known.map(({ label }) => String(label.label));
  const areProbabilities = known.every(({ p }) => p >= 0 && p <= 1);
  return {
    labels: labels.length,
    judged: known.length,
    auc: areaOf(known),
    ...(areProbabilities && {
      accuracy: agreement(choices, people, clusters),
      kappa: kappaInterval(choices, people, clusters),
      ...calibrated(known),
      ...consistent(labels, judged, verdict),
    }),
    biases,
    biasConfidence: confidence,
    ...callsOf(judged),
  };
}

const selfUnit = "a reply of the judge's own model";

const areaOf = (all: readonly Forecast[]): Interval =>
  areaInterval(
    all.map(({ p }) => p),
    all.map(({ better }) => better),
    all.map(({ group }) => group),
  );

const agreement = (
  judge: readonly string[],
  people: readonly string[],
  clusters: readonly string[],
): Interval =>
  clusteredShare(
    judge.map((choice, i) => choice === people[i]),
    clusters,
  );

function calibrated(all: readonly Forecast[]): Pick<JudgeReport, "calibration" | "uncalibrated"> {
  const why = whyUncalibrated(all);
  if (why !== undefined) return { uncalibrated: why };
  const [forecasts, outcomes] = [all.map(({ p }) => p), all.map(({ better }) => Number(better))];
  const fold = foldsOf(all.map(({ group }) => group));
  const errorOf = (said: readonly number[]): Interval =>
    errorInterval(all.map(({ group }, i) => ({ group, said: said[i]!, came: outcomes[i]! })));
  const byTemperature = crossFitted(forecasts, outcomes, fold, cooled);
  const temperature = fittedTemperature(forecasts, outcomes);
  return {
    calibration: {
      curve: calibrationCurve(forecasts, outcomes),
      error: errorOf(forecasts),
      ...(isWithinSearch(temperature) && { temperature }),
      corrected: {
        temperature: errorOf(byTemperature),
        isotonic: errorOf(crossFitted(forecasts, outcomes, fold, isotonic)),
      },
    },
  };
}

/**
 * The expected calibration error with its interval, by leaving out whole groups. Where nothing varies, each group counts as one label of
 * which none was said wrongly.
 */
function errorInterval(
  all: readonly { readonly group: string; readonly said: number; readonly came: number }[],
): Interval {
  const found = jackknifeInterval(
    all,
    ({ group }) => group,
    (some) =>
      expectedCalibrationError(
        calibrationCurve(
          some.map(({ said }) => said),
          some.map(({ came }) => came),
        ),
      ),
    [0, 1],
  );
  if (found.high - found.low > 1e-9) return found;
  const half = wilsonInterval(0, new Set(all.map(({ group }) => group)).size).high;
  return { ...found, low: Math.max(0, found.mean - half), high: Math.min(1, found.mean + half) };
}

/** Whether the choice stays when the judge is asked again, in the same words and in others. */
function consistent(
  labels: readonly { readonly group?: string | undefined; readonly prompt: string }[],
  judged: readonly JudgedLabel[],
  choice: (p: number) => string,
): Pick<JudgeReport, "repetition" | "rephrasing"> {
  const sameIn = (callsOf: (one: JudgedLabel) => readonly JudgeCall[]): Interval => {
    const again = judged.flatMap((one, i) =>
      callsOf(one).flatMap(({ value }) =>
        value === undefined || one.forward.value === undefined
          ? []
          : [{ same: choice(value) === choice(one.forward.value), group: groupOf(labels[i]!) }],
      ),
    );
    return clusteredShare(
      again.map(({ same }) => same),
      again.map(({ group }) => group),
    );
  };
  const rephrasing = sameIn(({ rephrased }) => (rephrased ? [rephrased] : []));
  return { repetition: sameIn(({ repeats }) => repeats), ...(rephrasing.n > 0 && { rephrasing }) };
}

function callsOf(judged: readonly JudgedLabel[]): Pick<JudgeReport, "calls" | "meanMs" | "firstFailure"> {
  const all: readonly JudgeCall[] = judged.flatMap(({ forward, backward, rephrased, repeats }) => [
    forward,
    ...(backward ? [backward] : []),
    ...(rephrased ? [rephrased] : []),
    ...repeats,
  ]);
  const count = (outcome: CallOutcome): number => all.filter((call) => call.outcome === outcome).length;
  const failure = all.find(({ outcome }) => outcome !== "answered")?.why;
  return {
    calls: {
      answered: count("answered"),
      failed: count("failed"),
      "timed out": count("timed out"),
      "off schema": count("off schema"),
      "not asked": count("not asked"),
      abstained: count("abstained"),
    },
    meanMs: mean(all.flatMap(({ outcome, ms }) => (outcome === "answered" ? [ms] : []))),
    ...(failure !== undefined && { firstFailure: failure }),
  };
}
