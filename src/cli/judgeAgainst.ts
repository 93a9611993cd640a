/** `whetstone judge --against`: a judge beside what people said of the same replies. */
import { resolve } from "node:path";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Spend } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import { type EnsembleRule, ensembleTrial } from "../evaluator/ensemble.ts";
import { judgeTrial } from "../evaluator/judgeTrial.ts";
import { type Labels, labelsByAspect } from "../evaluator/labels.ts";
import { type Distilled, digestOf, distilled, requireEnough } from "../train/fittedJudge.ts";
import { limitConcurrency } from "../train/limit.ts";
import { spendLine } from "./chat.ts";
import { fitProgress, isFittedFile, readFitted, requireFittedFile, writeFitted } from "./fittedFile.ts";
import { untilInterrupted } from "./interrupted.ts";
import { type FittedCalibration, fitCalibration, requireFittable } from "./judgeCalibration.ts";
import {
  aspectLines,
  besideByAspect,
  statedReport,
  type TrialReport,
  trialReport,
  whyOf,
} from "./judgeReportLines.ts";
import { type JudgeFlags, judgePanel, judgeVersion, requireOneHead, requireOneJudge } from "./judges.ts";
import { labelsFrom } from "./labelSource.ts";
import { statedNumber } from "./numbers.ts";
import { folded, type Io, interval, lateProgress, number } from "./output.ts";

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
  if (options.fitCalibration !== undefined) {
    requireOneJudge(panel, "--fit-calibration");
    requireOneHead(panel, "--fit-calibration");
  }
  await warnOfOwnLabels(
    [...(options.evaluator === undefined ? [] : [options.evaluator]), ...options.judge],
    labels,
    io,
  );
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
  const each = trials.map((trial) => trialReport(labels, trial));
  const whole = several ? ensembleTrial(trials, rule) : trials[0]!;
  const together = several ? trialReport(labels, whole) : each[0]!;
  const { all: report } = together;
  const student =
    options.distil === undefined || report.judged === 0
      ? undefined
      : await distilled(labels, whole, panel.names, fitProgress(io));
  const held = student && trialReport(labels, student.heldOut);
  if (student) await writeFitted(options.distil!, student.judge);
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
    ...statedReport(together),
    ...(several && {
      rule,
      judges: each.map((own, at) => ({ judge: panel.names[at], ...statedReport(own) })),
    }),
    ...(student &&
      held && { student: { file: options.distil, agreement: student.agreement, ...statedReport(held) } }),
    ...(calibration && { fitted: calibration }),
    ...(spend && { spend }),
    ...(usdPerCall !== undefined && { usdPerCall }),
    seconds: (performance.now() - began) / 1000,
  });
  if (several) {
    const rows = [
      ...each.map((own, at) => [panel.names[at]!, own] as const),
      ["together", together] as const,
    ];
    io.say(...besideByAspect(rows, io), "", `Together, by ${rule.vote}:`);
  }
  io.say(...aspectLines(together.aspects, labels.kind, io));
  if (student && held) io.say(...studentLines(student, together, held, options.distil!, io));
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
  const unasked = each.map(({ all }) => all).find(({ calls }) => calls["not asked"] > 0);
  if (unasked) {
    io.error(`whetstone: ${counted(unasked.calls["not asked"], "call")} not asked.${whyOf(unasked)}`);
    io.code = 1;
  }
}

/** A student beside its teacher. */
const studentLines = (
  { agreement }: Distilled,
  teacher: TrialReport,
  held: TrialReport,
  file: string,
  io: Io,
): readonly string[] => [
  "",
  ...besideByAspect(
    [
      ["teacher", teacher],
      ["student, held out", held],
    ],
    io,
  ),
  `The student makes the teacher's choice on labels that it was not fitted to: ${interval(agreement)}`,
  `Written: ${file}, fitted to all ${agreement.n} answers`,
];

/** Says that a judge in a file was fitted to some of these very labels. */
async function warnOfOwnLabels(files: readonly string[], { labels }: Labels, io: Io): Promise<void> {
  for (const file of files.filter(isFittedFile)) {
    const own = new Set((await readFitted(file)).fittedTo);
    const fitted = labels.filter((label) => own.has(digestOf(label))).length;
    if (fitted === 0) continue;
    io.error(
      `whetstone: ${file} was fitted to ${fitted} of these ${counted(labels.length, "label")}: how it does on others is what was reported when it was fitted, and not what follows.`,
    );
  }
}

/** Refuses files that cannot be written before a judge is asked. */
function requireFiles({ distil: student, fitCalibration: correction }: AgainstFlags, labels: Labels): void {
  const flag =
    student !== undefined ? "--distil" : correction !== undefined ? "--fit-calibration" : undefined;
  const aspects = labelsByAspect(labels).length;
  if (flag !== undefined && aspects > 1) {
    throw new WhetstoneError("option.range", {
      where: flag,
      got: `labels of ${aspects} aspects`,
      expected: "labels of one: it fits one number",
      fix: "Give the labels of one aspect, or fit a head for each with --fit.",
    });
  }
  if (student !== undefined) {
    requireFittedFile(student, "--distil");
    requireEnough(labels);
  }
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
