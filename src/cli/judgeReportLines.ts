/** What a judge came to on labels, as it is printed. */
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Interval } from "../core/interval.ts";
import type { Bias } from "../evaluator/bias.ts";
import { type Calibration, type JudgeReport, judgeReport } from "../evaluator/judgeReport.ts";
import type { JudgedLabel } from "../evaluator/judgeTrial.ts";
import { aspectOf, type Labels, labelsByAspect } from "../evaluator/labels.ts";
import { effectText } from "./effectText.ts";
import { folded, type Io, interval, number, percent, roomOf, table } from "./output.ts";

/** A report, and what it is about. */
export type NamedReport = readonly [name: string, report: JudgeReport];

/** What a judge came to on labels. */
export interface TrialReport {
  /** On all of them. Of several aspects only its calls mean something: base rates would tell aspects apart, and not replies. */
  readonly all: JudgeReport;
  /** On the labels of each aspect alone. */
  readonly aspects: readonly NamedReport[];
}

export function trialReport(labels: Labels, judged: readonly JudgedLabel[]): TrialReport {
  const aspects = labelsByAspect(labels).map(
    ({ aspect, some, places }): NamedReport => [
      aspect,
      judgeReport(
        some,
        places.map((at) => judged[at]!),
      ),
    ],
  );
  const [only, ...more] = aspects;
  return { all: only && more.length === 0 ? only[1] : judgeReport(labels, judged), aspects };
}

/** A report as data: for labels of several aspects, that of each, and what they have together. */
export function statedReport({ all, aspects }: TrialReport) {
  if (aspects.length < 2) return all;
  const { labels, judged, calls, meanMs, firstFailure } = all;
  return {
    ...{ labels, judged, calls, meanMs },
    ...(firstFailure !== undefined && { firstFailure }),
    aspects: Object.fromEntries(aspects),
  };
}

/** What several judges came to on the same labels, one a line; a table for each aspect. */
export function besideByAspect(
  judges: readonly (readonly [name: string, report: TrialReport])[],
  io: Io,
): readonly string[] {
  const [, { aspects }] = judges[0]!;
  return aspects.flatMap(([aspect], at) => [
    ...(aspects.length > 1 ? [`${oneLine(aspect)}:`] : []),
    ...beside(
      judges.map(([name, own]) => [name, own.aspects[at]![1]]),
      io,
    ),
  ]);
}

/** The report of each aspect; for several, a line of each comes first. */
export function aspectLines(
  aspects: readonly NamedReport[],
  kind: Labels["kind"],
  io: Io,
): readonly string[] {
  const [only, ...more] = aspects;
  if (only && more.length === 0) {
    const [aspect, report] = only;
    return [...(aspect === aspectOf({}) ? [] : [`${oneLine(aspect)}:`]), ...reportLines(report, kind, io)];
  }
  return [
    ...beside(aspects, io, "aspect"),
    ...aspects.flatMap(([aspect, report]) => ["", `${oneLine(aspect)}:`, ...reportLines(report, kind, io)]),
  ];
}

/** Reports on the same labels, or of the same judge, one a line. */
const beside = (rows: readonly NamedReport[], io: Io, of = "judge"): readonly string[] =>
  table(
    [of, "judged", "accuracy", "kappa", "AUC", "calibration error", "ms an answer"],
    rows.map(([name, own]) => [
      oneLine(name),
      `${own.judged} of ${own.labels}`,
      own.accuracy ? interval(own.accuracy) : "–",
      own.kappa ? ratio(own.kappa) : "–",
      ratio(own.auc),
      own.calibration ? ratio(own.calibration.error) : "–",
      number(own.meanMs),
    ]),
    roomOf(io),
  );

/** The first reason for a call without an answer. */
export const whyOf = ({ firstFailure }: Pick<JudgeReport, "firstFailure">): string =>
  firstFailure === undefined ? "" : ` The first reason: ${oneLine(firstFailure)}`;

function reportLines(report: JudgeReport, kind: Labels["kind"], io: Io): readonly string[] {
  const { calibration, calls } = report;
  const pairs = kind === "pairs";
  const lost = (["failed", "timed out", "off schema", "not asked", "abstained"] as const)
    .filter((outcome) => calls[outcome] > 0)
    .map((outcome) => `${calls[outcome]} ${outcome}`);
  const lines = [
    `${report.judged} of ${counted(report.labels, pairs ? "pair" : "reply label")} judged; 95 % intervals in brackets`,
    report.accuracy && report.kappa
      ? `Agreement with people: accuracy ${interval(report.accuracy)}, Cohen's kappa ${ratio(report.kappa)}, AUC ${ratio(report.auc)}`
      : `Agreement with people: AUC ${ratio(report.auc)}. The scores are not all from 0 to 1, so none counts as good by itself`,
    ...(report.swap ? [`Same choice with the replies swapped: ${interval(report.swap)}`] : []),
    ...(report.repetition && report.repetition.n > 0
      ? [`Same choice when asked again: ${interval(report.repetition)}`]
      : []),
    ...(report.rephrasing ? [`Same choice in other words: ${interval(report.rephrasing)}`] : []),
    `Calls: ${[`${calls.answered} answered`, ...lost].join(", ")}; ${number(report.meanMs)} ms an answer on average`,
    ...(lost.length > 0 ? [`None of the others counts as an answer.${whyOf(report)}`] : []),
  ].flatMap((line) => folded(io, line));
  const curve = calibration && [
    "",
    ...folded(
      io,
      `Expected calibration error ${ratio(calibration.error)}; ${ratio(calibration.corrected.temperature)} ${temperatureOf(calibration)}, ${ratio(calibration.corrected.isotonic)} after isotonic regression (both cross-fitted)`,
    ),
    ...table(
      [pairs ? "said: first is better" : "said: good", "people said", "labels"],
      calibration.curve.map(({ said, came, n }) => [percent(said), percent(came), String(pairs ? n / 2 : n)]),
      roomOf(io),
    ),
  ];
  return [
    ...lines,
    ...(curve ?? []),
    ...(report.uncalibrated === undefined ? [] : [`Calibration: not measured, ${report.uncalibrated}`]),
    "",
    ...table(
      ["bias", "verdict", "moves the judge by", "for"],
      report.biases.map((bias) => [bias.name, bias.verdict, effectOf(bias, pairs), bias.unit]),
      roomOf(io),
    ),
    ...(report.biases.some(({ verdict }) => verdict !== "not measured")
      ? folded(
          io,
          `The intervals of the biases hold together at 99 % (each at ${(100 * report.biasConfidence).toFixed(1)} %), with the people's label held equal.`,
        )
      : []),
  ];
}

const temperatureOf = ({ temperature }: Calibration): string =>
  temperature === undefined
    ? "at the end of the search, as no temperature fits best"
    : `at temperature ${number(temperature)}`;

const ratio = (x: Interval): string =>
  Number.isFinite(x.mean) ? `${x.mean.toFixed(2)} [${x.low.toFixed(2)}, ${x.high.toFixed(2)}]` : "–";

/** Of a choice, in percentage points; of a score, on its own scale. */
function effectOf(bias: Bias, pairs: boolean): string {
  if (bias.verdict === "not measured") return bias.why;
  return pairs ? effectText(bias.effect, 100, 1, " points") : effectText(bias.effect, 1, 3);
}
