/** `whetstone judge --against`: a judge beside what people said of the same replies. */
import { resolve } from "node:path";
import { requireNewFile } from "../common/files/files.ts";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Spend } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Interval } from "../core/interval.ts";
import { randomStream } from "../core/random.ts";
import type { Bias } from "../evaluator/bias.ts";
import { type EnsembleRule, ensembleTrial } from "../evaluator/ensemble.ts";
import { type Calibration, type JudgeReport, judgeReport } from "../evaluator/judgeReport.ts";
import { type JudgedLabel, judgeTrial } from "../evaluator/judgeTrial.ts";
import { type Labels, labelsByAspect } from "../evaluator/labels.ts";
import { distilled } from "../train/fittedJudge.ts";
import { limitConcurrency } from "../train/limit.ts";
import { spendLine } from "./chat.ts";
import { effectText } from "./effectText.ts";
import { writeFitted } from "./fittedFile.ts";
import { untilInterrupted } from "./interrupted.ts";
import { type FittedCalibration, fitCalibration, requireFittable } from "./judgeCalibration.ts";
import { type JudgeFlags, judgePanel, judgeVersion, requireOneJudge } from "./judges.ts";
import { labelsFrom } from "./labelSource.ts";
import { statedNumber } from "./numbers.ts";
import { folded, type Io, interval, lateProgress, number, percent, roomOf, table } from "./output.ts";

/** Flags of the command for labels. */
export interface AgainstFlags extends JudgeFlags {
  readonly labels?: Labels["kind"];
  readonly distil?: string;
  readonly fitCalibration?: string;
  readonly repeats: string;
}

/** How the judges are asked. */
export interface AgainstSettings {
  readonly seed: number;
  readonly concurrency: number;
  readonly timeoutSeconds: number;
  readonly rule: EnsembleRule;
}

export async function against(
  file: string,
  options: AgainstFlags,
  { seed, concurrency, timeoutSeconds, rule }: AgainstSettings,
  io: Io,
): Promise<void> {
  const repeats = statedNumber("--repeats", options.repeats);
  const labels = await labelsFrom(file, options.labels);
  requireFiles(options, labels);
  const panel = await judgePanel(options, labels.kind === "pairs" ? "compare" : "score");
  if (options.fitCalibration !== undefined) requireOneJudge(panel, "--fit-calibration");
  const began = performance.now();
  let spend: Spend | undefined;
  const trials = await untilInterrupted(io, async (stop) => {
    const { judges, spent } = panel.ready(stop, { timeoutSeconds, concurrency });
    const progress = lateProgress(io, "Labels", judges.length * labels.labels.length);
    try {
      const limit = limitConcurrency(concurrency);
      const random = randomStream(seed);
      return await Promise.all(
        judges.map((evaluator, at) =>
          judgeTrial(evaluator, labels, {
            random: at === 0 ? random : random.split("judge", at),
            ...{ repeats, timeoutSeconds, limit, stop },
            onLabel: progress.one,
          }),
        ),
      );
    } finally {
      spend = spent();
      progress.close();
    }
  });
  if (trials === undefined) return;
  const several = trials.length > 1;
  const each = trials.map((trial) => judgeReport(labels, trial));
  const whole = several ? ensembleTrial(trials, rule) : trials[0]!;
  const report = several ? judgeReport(labels, whole) : each[0]!;
  const student =
    options.distil === undefined || report.judged === 0 ? undefined : distilled(labels, whole, panel.names);
  const held = student && judgeReport(labels, student.heldOut);
  if (student) await writeFitted(options.distil!, student.judge);
  const aspects = aspectReports(labels, whole);
  const calibration =
    options.fitCalibration === undefined || labels.kind === "pairs" || report.judged === 0
      ? undefined
      : await fitCalibration(
          options.fitCalibration,
          { of: panel.names[0]!, identity: panel.identities[0]! },
          labels.labels,
          whole,
        );
  const asked = spend === undefined ? 0 : spend.calls + spend.cachedCalls;
  const usdPerCall = spend && options.price !== undefined && asked > 0 ? spend.usd / asked : undefined;
  io.record({
    type: "judge",
    against: file,
    judge: several ? "ensemble" : panel.names[0],
    version: judgeVersion(panel, rule),
    kind: labels.kind,
    ...report,
    ...(aspects.length > 1 && { aspects: Object.fromEntries(aspects) }),
    ...(several && { rule, judges: each.map((own, at) => ({ judge: panel.names[at], ...own })) }),
    ...(student && { student: { file: options.distil, agreement: student.agreement, ...held } }),
    ...(calibration && { fitted: calibration }),
    ...(spend && { spend }),
    ...(usdPerCall !== undefined && { usdPerCall }),
    seconds: (performance.now() - began) / 1000,
  });
  if (several) {
    const rows = [...each.map((own, at) => [panel.names[at]!, own] as const), ["together", report] as const];
    io.say(...beside(rows, io), "", `Together, by ${rule.vote}:`);
  }
  io.say(...aspectLines(aspects, io), ...reportLines(report, labels, io));
  if (student && held) {
    io.say(
      "",
      ...beside([["teacher", report] as const, ["student, held out", held] as const], io),
      `The student makes the teacher's choice on labels that it was not fitted to: ${interval(student.agreement)}`,
      `Written: ${options.distil}, fitted to all ${student.agreement.n} answers`,
    );
  }
  if (calibration && !("notWritten" in calibration)) io.say("", ...folded(io, fittedLine(calibration)));
  if (spend) {
    const average = usdPerCall === undefined ? "" : `, $${number(usdPerCall)} a request on average`;
    io.say(...folded(io, `Cost: ${spendLine(spend)}${average}`));
  }
  if (report.judged === 0) {
    io.error(`whetstone: no label has all its answers: nothing was measured.${whyOf(report)}`);
    io.code = 1;
    return;
  }
  if (calibration && "notWritten" in calibration) {
    io.error(`whetstone: no correction is written: ${oneLine(calibration.notWritten)}`);
    io.code = 1;
  }
  const unasked = each.find(({ calls }) => calls["not asked"] > 0);
  if (unasked) {
    io.error(`whetstone: ${counted(unasked.calls["not asked"], "call")} not asked.${whyOf(unasked)}`);
    io.code = 1;
  }
}

/** Refuses files that cannot be written before a judge is asked. */
function requireFiles({ distil: student, fitCalibration: correction }: AgainstFlags, labels: Labels): void {
  if (student !== undefined) requireNewFile(student, "--distil");
  if (correction !== undefined) requireFittable(correction, labels);
  if (student === undefined || correction === undefined || resolve(student) !== resolve(correction)) return;
  throw new WhetstoneError("option.range", {
    where: "--fit-calibration",
    got: `${correction}, which --distil writes`,
    expected: "a file of its own",
    fix: "Choose another name.",
  });
}

const fittedLine = (fitted: Exclude<FittedCalibration, { readonly notWritten: string }>): string =>
  `Written: ${fitted.file}, by ${fitted.by === "isotonic" ? "isotonic regression" : "a temperature"}, fitted to ${counted(fitted.labels, "label")}; mean squared error ${number(fitted.before)}, with it ${number(fitted.after)} on labels that it was not fitted to (at least ${number(fitted.gain)} less, at 95 %)`;

/** A report on the labels of each aspect alone. */
export const aspectReports = (
  labels: Labels,
  judged: readonly JudgedLabel[],
): readonly (readonly [aspect: string, report: JudgeReport])[] =>
  labelsByAspect(labels).map(({ aspect, some, places }) => [
    aspect,
    judgeReport(
      some,
      places.map((at) => judged[at]!),
    ),
  ]);

/** What labels of several aspects came to, one a line; nothing for those of one. */
export const aspectLines = (
  aspects: readonly (readonly [aspect: string, report: JudgeReport])[],
  io: Io,
): readonly string[] => (aspects.length > 1 ? [...beside(aspects, io, "aspect"), "", "All aspects:"] : []);

/** What several judges came to on the same labels, one a line. */
const beside = (
  rows: readonly (readonly [name: string, report: JudgeReport])[],
  io: Io,
  of = "judge",
): readonly string[] =>
  table(
    [of, "judged", "accuracy", "kappa", "AUC", "calibration error", "ms an answer"],
    rows.map(([name, own]) => [
      name,
      `${own.judged} of ${own.labels}`,
      own.accuracy ? interval(own.accuracy) : "–",
      own.kappa ? ratio(own.kappa) : "–",
      ratio(own.auc),
      own.calibration ? ratio(own.calibration.error) : "–",
      number(own.meanMs),
    ]),
    roomOf(io),
  );

const whyOf = ({ firstFailure }: JudgeReport): string =>
  firstFailure === undefined ? "" : ` The first reason: ${oneLine(firstFailure)}`;

/** A report, as it is printed. */
export function reportLines(report: JudgeReport, labels: Labels, io: Io): readonly string[] {
  const { calibration, calls } = report;
  const pairs = labels.kind === "pairs";
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
