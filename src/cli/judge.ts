/** `whetstone judge`: whether a judge can be trusted, held against what people prefer. */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Command, Option } from "commander";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Spend } from "../core/chat.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Interval } from "../core/interval.ts";
import { randomStream } from "../core/random.ts";
import type { Bias } from "../evaluator/bias.ts";
import { type EnsembleRule, ensembleTrial } from "../evaluator/ensemble.ts";
import { type JudgeReport, judgeReport } from "../evaluator/judgeReport.ts";
import { judgeTrial } from "../evaluator/judgeTrial.ts";
import { type Labels, readLabels } from "../evaluator/labels.ts";
import { limitConcurrency } from "../train/limit.ts";
import { spendLine, withChatFlags } from "./chat.ts";
import { untilInterrupted } from "./interrupted.ts";
import { audit } from "./judgeAudit.ts";
import { addLiveOptions, judgeLive, type LiveFlags, liveSettings } from "./judgeLive.ts";
import { score } from "./judgeScore.ts";
import { type JudgeFlags, judgePanel } from "./judges.ts";
import { numberBetween, numberOption, statedNumber } from "./numbers.ts";
import {
  addCommand,
  folded,
  type Io,
  interval,
  lateProgress,
  number,
  percent,
  roomOf,
  table,
} from "./output.ts";
import { shownStore } from "./report.ts";
import { distil, requireNewStudent, writeStudent } from "./studentJudge.ts";

interface JudgeOptions extends JudgeFlags, LiveFlags {
  readonly against?: string;
  readonly out?: string;
  readonly vote: EnsembleRule["vote"];
  readonly abstain: string;
  readonly distil?: string;
  readonly audit?: true;
  readonly limit?: string;
  readonly estimate?: true;
  readonly store: string;
  readonly repeats: string;
  readonly seed: string;
  readonly timeout: string;
  readonly concurrency: string;
}

export function addJudge(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "judge",
    "Hold judges against labels of people, or score transcripts, a run or served traffic by them.",
    [
      "whetstone judge --against labels.jsonl --evaluator my-judge.ts",
      "whetstone judge --against labels.jsonl --evaluator my-judge.ts --repeats 3 --json",
      "whetstone judge --against labels.jsonl --chat http://127.0.0.1:8080/v1 --model qwen3 --rubric 'correct and short'",
      "whetstone judge --against labels.jsonl --judge one.ts --judge two.ts --abstain 0.4",
      "whetstone judge --against labels.jsonl --evaluator my-judge.ts --distil student.json",
      "whetstone judge transcripts.jsonl --evaluator my-judge.ts --out scores.jsonl",
      "whetstone judge transcripts.jsonl --evaluator my-judge.ts --audit --limit 100",
      "whetstone judge runs/whetstone.sqlite --chat http://127.0.0.1:8080/v1 --model qwen3 --limit 500 --estimate --out scores.jsonl",
      "whetstone judge runs/whetstone.sqlite --chat http://127.0.0.1:8080/v1 --model qwen3 --price 0.25,2 --max-spend 2 --live --hourly 100",
    ],
  );
  addLiveOptions(withChatFlags(command))
    .argument(
      "[file|run|store]",
      "what to score: transcripts, a JSON object a line, {messages} or {prompt, reply}; a run's id or folder; a traffic store",
    )
    .option(
      "--against <labels.jsonl>",
      "labels: a JSON object a line, pairs {prompt, a, b, preferred: a, b or tie} or replies {prompt, reply, label: 0 or 1}",
    )
    .option(
      "--evaluator <file>",
      "module whose default export is an evaluator that compares or scores, or a file of --distil",
    )
    .addOption(
      new Option(
        "--judge <file>",
        "such a module as one judge among several; once for each, and --chat is one more",
      )
        .argParser((file: string, before: readonly string[]) => [...before, file])
        .default([], "none"),
    )
    .addOption(
      new Option(
        "--vote <how>",
        "with several judges: the mean of their numbers, or the majority of their choices",
      )
        .choices(["mean", "majority"])
        .default("mean"),
    )
    .option(
      "--abstain <bound>",
      "with several judges: abstain where they disagree by more, from 0 to 1; for a mean the largest number less the smallest, for a majority the share of the others",
      "1",
    )
    .option("--rubric <text>", "with --chat: what the judge goes by", "what serves whoever asked")
    .option(
      "--distil <file.json>",
      "with --against: fit a small judge to the answers, and write it to a new file; --evaluator and --judge take it",
    )
    .option(
      "--audit",
      "in place of scores: by how much padding, self-praise, a list, experts and the place move the judge's score of the same replies",
    )
    .option("--out <file>", "for scores: a new file, a JSON object a line")
    .option("--limit <n>", "for scores and --audit: only the first n items")
    .option("--estimate", "for scores: ask about 5 items, and say what all would cost")
    .option("--store <where>", "for a run: the run store, a SQLite file or a postgres:// URL", shownStore)
    .option("--repeats <n>", "times that each label is asked again in the same order", "1")
    .option("--seed <n>", "seed of the calls", "1")
    .option("--timeout <seconds>", "a call that takes longer is counted as timed out", "120")
    .option("--concurrency <n>", "calls, or with scores items, at the same time", "8")
    .action((what: string | undefined, options: JudgeOptions) => judge(what, options, io));
}

async function judge(what: string | undefined, options: JudgeOptions, io: Io): Promise<void> {
  const seed = statedNumber("--seed", options.seed);
  const concurrency = statedNumber("--concurrency", options.concurrency, 1);
  const timeoutSeconds = numberOption("--timeout", options.timeout, {
    isValid: (value) => value > 0 && value <= 86_400,
    expected: "seconds above 0, up to a day",
  });
  const rule = { vote: options.vote, abstain: numberBetween("--abstain", options.abstain, 0, 1) };
  if (options.against !== undefined && what === undefined) {
    await against(options.against, options, { seed, concurrency, timeoutSeconds, rule }, io);
    return;
  }
  const limit =
    options.limit === undefined ? Number.POSITIVE_INFINITY : statedNumber("--limit", options.limit, 1);
  if (what !== undefined && options.against === undefined && options.audit) {
    const panel = await judgePanel(options, "score");
    await audit({ what, runs: options.store, panel, seed, timeoutSeconds, concurrency, limit }, io);
    return;
  }
  if (what === undefined && options.live) throw nothingLive();
  if (what !== undefined && options.live) {
    const surplus = (["against", "out", "limit", "estimate"] as const).find(
      (name) => options[name] !== undefined,
    );
    if (surplus) throw besideLive(surplus);
    const panel = await judgePanel(options, "score");
    const asked = { panel, seed, concurrency, timeoutSeconds, rule };
    await judgeLive({ store: what, ...asked, ...liveSettings(options) }, io);
    return;
  }
  if (what === undefined || options.against !== undefined || options.out === undefined) {
    const got = what === undefined ? "nothing to judge" : options.out === undefined ? "no --out" : "both";
    throw new WhetstoneError("option.range", {
      where: "judge",
      got,
      expected: "--against labels.jsonl, or what to score with --out scores.jsonl or --audit",
      fix: "Name one of them.",
    });
  }
  const panel = await judgePanel(options, "score");
  const { out, store: runs, estimate = false } = options;
  await score({ what, out, runs, panel, rule, seed, timeoutSeconds, concurrency, limit, estimate }, io);
}

const nothingLive = (): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "judge",
    got: "--live without a store",
    expected: "the traffic store that the gateway records in",
    fix: "Name it, for example: whetstone judge runs/whetstone.sqlite --live",
  });

const besideLive = (name: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: `--${name}`,
    got: "it beside --live",
    expected: "one of the two: --live stores scores as feedback, and goes on",
    fix: "Leave one out; --hourly bounds what --live judges.",
  });

interface Settings {
  readonly seed: number;
  readonly concurrency: number;
  readonly timeoutSeconds: number;
  readonly rule: EnsembleRule;
}

async function against(
  file: string,
  options: JudgeOptions,
  { seed, concurrency, timeoutSeconds, rule }: Settings,
  io: Io,
): Promise<void> {
  const repeats = statedNumber("--repeats", options.repeats);
  if (options.distil !== undefined) requireNewStudent(options.distil);
  const labels = readLabels(await textOf(file), basename(file));
  const panel = await judgePanel(options, labels.kind === "pairs" ? "compare" : "score");
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
  const student = options.distil === undefined || report.judged === 0 ? undefined : distil(labels, whole);
  const held = student && judgeReport(labels, student.heldOut);
  if (student) await writeStudent(options.distil!, labels.kind, panel.names, student.weights);
  const asked = spend === undefined ? 0 : spend.calls + spend.cachedCalls;
  const usdPerCall = spend && options.price !== undefined && asked > 0 ? spend.usd / asked : undefined;
  io.record({
    type: "judge",
    against: file,
    judge: several ? "ensemble" : panel.names[0],
    kind: labels.kind,
    ...report,
    ...(several && { rule, judges: each.map((own, at) => ({ judge: panel.names[at], ...own })) }),
    ...(student && { student: { file: options.distil, agreement: student.agreement, ...held } }),
    ...(spend && { spend }),
    ...(usdPerCall !== undefined && { usdPerCall }),
    seconds: (performance.now() - began) / 1000,
  });
  if (several) {
    const rows = [...each.map((own, at) => [panel.names[at]!, own] as const), ["together", report] as const];
    io.say(...beside(rows, io), "", `Together, by ${rule.vote}:`);
  }
  io.say(...reportLines(report, labels, io));
  if (student && held) {
    io.say(
      "",
      ...beside([["teacher", report] as const, ["student, held out", held] as const], io),
      `The student makes the teacher's choice on labels that it was not fitted to: ${interval(student.agreement)}`,
      `Written: ${options.distil}, fitted to all ${student.agreement.n} answers`,
    );
  }
  if (spend) {
    const average = usdPerCall === undefined ? "" : `, $${number(usdPerCall)} a request on average`;
    io.say(...folded(io, `Cost: ${spendLine(spend)}${average}`));
  }
  if (report.judged === 0) {
    io.error(`whetstone: no label has all its answers: nothing was measured.${whyOf(report)}`);
    io.code = 1;
    return;
  }
  const unasked = each.find(({ calls }) => calls["not asked"] > 0);
  if (unasked) {
    io.error(`whetstone: ${counted(unasked.calls["not asked"], "call")} not asked.${whyOf(unasked)}`);
    io.code = 1;
  }
}

/** What several judges came to on the same labels, one a line. */
const beside = (rows: readonly (readonly [name: string, report: JudgeReport])[], io: Io): readonly string[] =>
  table(
    ["judge", "judged", "accuracy", "kappa", "AUC", "calibration error", "ms an answer"],
    rows.map(([name, own]) => [
      name,
      `${own.judged} of ${own.labels}`,
      own.accuracy ? interval(own.accuracy) : "–",
      own.kappa ? ratio(own.kappa) : "–",
      ratio(own.auc),
      own.calibration ? number(own.calibration.error) : "–",
      number(own.meanMs),
    ]),
    roomOf(io),
  );

const whyOf = ({ firstFailure }: JudgeReport): string =>
  firstFailure === undefined ? "" : ` The first reason: ${oneLine(firstFailure)}`;

function reportLines(report: JudgeReport, labels: Labels, io: Io): readonly string[] {
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
      `Expected calibration error ${number(calibration.error)}; ${number(calibration.corrected.temperature)} at temperature ${number(calibration.temperature)}, ${number(calibration.corrected.isotonic)} after isotonic regression (both cross-fitted)`,
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

const ratio = (x: Interval): string =>
  Number.isFinite(x.mean) ? `${x.mean.toFixed(2)} [${x.low.toFixed(2)}, ${x.high.toFixed(2)}]` : "–";

/** Of a choice, in percentage points; of a score, on its own scale. */
function effectOf(bias: Bias, pairs: boolean): string {
  if (bias.verdict === "not measured") return bias.why;
  const { mean, low, high } = bias.effect;
  const [scale, digits, unit] = pairs ? [100, 1, " points"] : [1, 3, ""];
  const [middle, from, to] = [mean, low, high].map((x) => (scale * x).toFixed(digits));
  return `${mean > 0 ? "+" : ""}${middle}${unit} [${from}, ${to}]`;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (e) {
    throw new WhetstoneError("option.range", {
      where: "--against",
      got: existsSync(file) ? `${file} (${messageOf(e)})` : `${file}, which is not there`,
      expected: "a file of labels, one JSON object a line",
      fix: "Check the path.",
      cause: e,
    });
  }
}
