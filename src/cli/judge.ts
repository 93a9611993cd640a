/** `whetstone judge`: its flags, and which work they ask for. */
import { type Command, Option } from "commander";
import { WhetstoneError } from "../core/errors.ts";
import type { EnsembleRule } from "../evaluator/ensemble.ts";
import { withChatFlags } from "./chat.ts";
import { type AgainstFlags, against } from "./judgeAgainst.ts";
import { audit } from "./judgeAudit.ts";
import { fit } from "./judgeFit.ts";
import { addLiveOptions, judgeLive, type LiveFlags, liveSettings } from "./judgeLive.ts";
import { score } from "./judgeScore.ts";
import { judgePanel } from "./judges.ts";
import { numberBetween, numberOption, statedNumber } from "./numbers.ts";
import { addCommand, type Io } from "./output.ts";
import { shownStore } from "./report.ts";

interface JudgeOptions extends AgainstFlags, LiveFlags {
  readonly against?: string;
  readonly fit?: string;
  readonly out?: string;
  readonly vote: EnsembleRule["vote"];
  readonly abstain: string;
  readonly audit?: true;
  readonly limit?: string;
  readonly estimate?: true;
  readonly store: string;
  readonly seed: string;
  readonly timeout: string;
  readonly concurrency: string;
}

export function addJudge(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "judge",
    "Hold judges against labels of people, fit one to them, or score transcripts, a run or served traffic.",
    [
      "whetstone judge --against labels.jsonl --evaluator my-judge.ts",
      "whetstone judge --against labels.jsonl --evaluator my-judge.ts --repeats 3 --json",
      "whetstone judge --against labels.jsonl --chat http://127.0.0.1:8080/v1 --model qwen3 --rubric 'correct and short'",
      "whetstone judge --against labels.jsonl --judge one.ts --judge two.ts --abstain 0.4",
      "whetstone judge --against labels.jsonl --evaluator my-judge.ts --distil student.json",
      "whetstone judge --against labels.jsonl --fit reward.json",
      "whetstone judge --against runs/whetstone.sqlite --labels pairs --fit reward.json",
      "whetstone judge --against labels.jsonl --evaluator my-judge.ts --fit-calibration calibration.json",
      "whetstone judge transcripts.jsonl --evaluator my-judge.ts --calibration calibration.json --out scores.jsonl",
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
      "--against <labels.jsonl|store>",
      "labels: a JSON object a line, pairs {prompt, a, b, preferred: a, b or tie} or replies {prompt, reply, label: 0 or 1}; or a traffic store, whose feedback they are",
    )
    .addOption(
      new Option(
        "--labels <kind>",
        "with --against and a traffic store: replies that were rated, or pairs of corrections and preferences (default: replies)",
      ).choices(["replies", "pairs"]),
    )
    .option(
      "--evaluator <file>",
      "module whose default export is an evaluator that compares or scores, or a file of --distil or --fit",
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
      "--fit <file.json>",
      "with --against, without a judge: fit a reward model to the labels, with a head for each aspect, and write it to a new file; --evaluator and --judge take it",
    )
    .option(
      "--fit-calibration <file.json>",
      "with --against: fit a correction of the judge's scores to labels of single replies, and write it to a new file",
    )
    .option("--calibration <file.json>", "correct the judge's scores by a file of --fit-calibration")
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
    .action(async (what: string | undefined, options: JudgeOptions, command: Command) => {
      if (options.fit !== undefined) await fitAlone(what, { ...options, fit: options.fit }, command, io);
      else await judge(what, options, io);
    });
}

/** Fits a reward model, for which no judge is asked. @throws WhetstoneError `option.range` for flags of other work. */
async function fitAlone(
  what: string | undefined,
  { against, ...options }: JudgeOptions & { readonly fit: string },
  command: Command,
  io: Io,
): Promise<void> {
  const own = ["against", "labels", "fit", "json", "debug"];
  const surplus = command.options
    .map((option) => [option.attributeName(), option.long] as const)
    .find(([name]) => !own.includes(name) && command.getOptionValueSource(name) === "cli");
  if (against !== undefined && what === undefined && !surplus) return await fit(against, options, io);
  throw new WhetstoneError("option.range", {
    where: "--fit",
    got: surplus ? `it beside ${surplus[1]}` : what === undefined ? "no --against" : `it beside ${what}`,
    expected:
      "it with --against labels.jsonl, and no judge: it is fitted to the labels of people; --distil fits to the answers of a judge",
    fix: "For example: whetstone judge --against labels.jsonl --fit reward.json",
  });
}

async function judge(what: string | undefined, options: JudgeOptions, io: Io): Promise<void> {
  const seed = statedNumber("--seed", options.seed);
  const concurrency = statedNumber("--concurrency", options.concurrency, 1);
  const timeoutSeconds = numberOption("--timeout", options.timeout, {
    isValid: (value) => value > 0 && value <= 86_400,
    expected: "seconds above 0, up to a day",
  });
  const rule = { vote: options.vote, abstain: numberBetween("--abstain", options.abstain, 0, 1) };
  requireUsedFlags(options);
  if (options.against !== undefined && what === undefined) {
    await against(options.against, options, { seed, concurrency, timeoutSeconds, rule }, io);
    return;
  }
  const limit =
    options.limit === undefined ? Number.POSITIVE_INFINITY : statedNumber("--limit", options.limit, 1);
  if (what !== undefined && options.audit) {
    const panel = await judgePanel(options, "score");
    await audit({ what, runs: options.store, panel, seed, timeoutSeconds, concurrency, limit }, io);
    return;
  }
  if (what === undefined && options.live) throw nothingLive();
  if (what !== undefined && options.live) {
    const panel = await judgePanel(options, "score");
    const asked = { panel, seed, concurrency, timeoutSeconds, rule };
    await judgeLive({ store: what, ...asked, ...liveSettings(options) }, io);
    return;
  }
  if (what === undefined || options.against !== undefined || options.out === undefined) {
    const got = options.against !== undefined ? "both" : what === undefined ? "nothing to judge" : "no --out";
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

/** Flags that only some work has a use for, with what they go with. */
const goesWith: Readonly<Record<string, readonly Work[]>> = {
  labels: ["against"],
  distil: ["against"],
  fitCalibration: ["against"],
  audit: ["audit"],
  live: ["live"],
  once: ["live"],
  out: ["scores"],
  limit: ["scores", "audit"],
  estimate: ["scores"],
};

type Work = "against" | "audit" | "live" | "scores";

const workText: Readonly<Record<Work, string>> = {
  against: "--against labels.jsonl",
  audit: "--audit",
  live: "--live",
  scores: "scores of a file, a run or a store",
};

/** @throws WhetstoneError `option.range` for a flag that the work has no use for. */
function requireUsedFlags(options: JudgeOptions): void {
  const work: Work =
    options.against !== undefined ? "against" : options.audit ? "audit" : options.live ? "live" : "scores";
  const surplus = Object.entries(goesWith).find(
    ([name, works]) => Reflect.get(options, name) !== undefined && !works.includes(work),
  );
  if (surplus) {
    const [name, works] = surplus;
    throw new WhetstoneError("option.range", {
      where: `--${name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`,
      got: `it beside ${workText[work]}`,
      expected: `it with ${works.map((one) => workText[one]).join(" or ")}`,
      fix: work === "live" ? "Leave it out; --hourly bounds what --live judges." : "Leave it out.",
    });
  }
  if (options.fitCalibration !== undefined && options.calibration !== undefined) {
    throw new WhetstoneError("option.range", {
      where: "--fit-calibration",
      got: "it beside --calibration",
      expected: "one of the two: a correction is fitted to the judge's own numbers",
      fix: "Leave one out.",
    });
  }
}

const nothingLive = (): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "judge",
    got: "--live without a store",
    expected: "the traffic store that the gateway records in",
    fix: "Name it, for example: whetstone judge runs/whetstone.sqlite --live",
  });
