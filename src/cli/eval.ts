/** `whetstone eval`: how well a trained policy does; for people and for CI. */

import type { Command } from "commander";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { findingLine } from "../core/finding.ts";
import { randomStream } from "../core/random.ts";
import { toolFindings } from "../diagnose/environment/toolFinding.ts";
import {
  type Examination,
  examine,
  quickly,
  reportOf,
  requireSound,
} from "../diagnose/environment/validate.ts";
import type { Environment } from "../env/environment.ts";
import { suites } from "../suite/index.ts";
import { evaluate } from "../train/evaluate.ts";
import { limitConcurrency } from "../train/limit.ts";
import { splitName } from "../train/splits.ts";
import { requireEnvironment } from "./catalogue.ts";
import { type ChatFlags, withChatFlags } from "./chat.ts";
import { artefactLines, evaluatedPolicy, withToolsInText } from "./evaluationOptions.ts";
import { untilInterrupted } from "./interrupted.ts";
import { numberOption, statedNumber } from "./numbers.ts";
import { addCommand, duration, folded, type Io, interval, lateProgress, number, percent } from "./output.ts";
import { type RunRecord, recordedConfig, recordedEnvironment } from "./runRecord.ts";
import { storeOption } from "./runs.ts";
import {
  replyTokensOf,
  type Sampling,
  type SamplingFlags,
  samplingOf,
  samplingWords,
  withReplyTokens,
  withSamplingFlags,
} from "./sampling.ts";
import { evalSuite } from "./suite.ts";
import { episodeLines, episodeRecord } from "./transcript.ts";

interface EvalOptions extends ChatFlags, SamplingFlags {
  readonly env?: string;
  readonly split?: string;
  readonly tasks?: string;
  readonly seed: string;
  readonly failUnder?: string;
  readonly store: string;
  readonly artefact?: string;
  readonly toolsInText?: true;
  /** Episodes to print. */
  readonly show?: string;
  readonly suite?: string;
  readonly player?: string;
  readonly out?: string;
}

export function addEval(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "eval",
    "Measure a run, a checkpoint, a pretrained model or a chat model on held-out tasks.",
    [
      "whetstone eval facts-grpo-1",
      "whetstone eval runs/facts-grpo-1/best --greedy --tasks 400",
      "whetstone eval --model SmolLM2-135M-Instruct.Q4_1.gguf --env my.ts --tasks 20 --greedy --show 3",
      "whetstone eval facts-grpo-1 --fail-under 0.8 --json",
      "whetstone eval facts-gepa-1 --artefact none",
      "whetstone eval entangled-grpo-1 --suite multiturninstruct --out report.md",
      "whetstone eval --suite multiturninstruct --player flawed",
      "whetstone eval --chat http://127.0.0.1:8080/v1 --model qwen3 --env facts --tasks 20",
      "whetstone eval --chat http://127.0.0.1:8080/v1 --model qwen3 --env facts --artefact runs/facts-gepa-1/artefact",
    ],
  );
  withToolsInText(withSamplingFlags(withChatFlags(command)))
    .argument("[run-or-checkpoint]", "a run's id or folder, the folder of a checkpoint, or a GGUF file")
    .option("--env <name>", "environment, or a module that exports one (default: the run's own)")
    .option("--split <name>", "set of tasks (default: the first held-out one)")
    .option("--tasks <n>", "maximum number of tasks (default: all)")
    .option("--seed <n>", "seed of the sampling", "1")
    .option(
      "--artefact <version>",
      "artefact for the policy: a version of the store by name or id, a folder, a text file, or none (default: the one that its run wrote)",
    )
    .option("--show <n>", "print this many episodes: prompts, replies and rewards")
    .option("--fail-under <share>", "exit 1 when success is below this share, from 0 to 1")
    .option("--suite <name>", `run this benchmark suite instead: ${suites.map((s) => s.name).join(", ")}`)
    .option(
      "--player <name>",
      "with --suite: measure its scripted player, expert or flawed, in place of a run",
    )
    .option("--out <file>", "with --suite: file for the report, in Markdown")
    .option(...storeOption)
    .action(async (named: string | undefined, options: EvalOptions) => {
      if (options.suite !== undefined) return await evalSuite(options.suite, named, options, io);
      await evalPolicy(named, options, io);
    });
}

/** Measures a policy on a split. Sets the exit code. */
async function evalPolicy(named: string | undefined, options: EvalOptions, io: Io): Promise<void> {
  refuseOfSuites(options);
  const least = options.failUnder === undefined ? undefined : share("--fail-under", options.failUnder);
  const shown = options.show === undefined ? 0 : statedNumber("--show", options.show, 1);
  const sampling = samplingOf(options);
  const asked = replyTokensOf(options);
  const { found, artefact: applied, open, dispose } = await evaluatedPolicy("eval", named, options, io);
  const replyTokens = asked ?? found?.begun?.parts.replyTokens;
  const environment = withReplyTokens(await environmentOf(options.env, found?.begun), replyTokens);
  const split = options.split ?? heldOut(environment);
  if (!environment.splits.includes(split)) throw unknownName("--split", split, environment.splits);
  const examined = await examine(environment, { ...quickly, play: [split] });
  // an environment need not be one to train in
  requireSound(
    environment.name,
    examined.findings.filter(({ check }) => check !== "splits"),
  );
  const all = examined.splits.find(({ name }) => name === split);
  if (all?.tasks.length === 0) throw withoutTasks(split, examined.splits);
  const trainedShare = all ? all.trained / Math.max(1, all.tasks.length) : 0;
  const seed = statedNumber("--seed", options.seed);
  const tasks =
    options.tasks === undefined ? Number.POSITIVE_INFINITY : statedNumber("--tasks", options.tasks, 1);
  const measured = await untilInterrupted(io, async (stop) => {
    const progress = lateProgress(io, "Episodes", Math.min(tasks, all?.tasks.length ?? 0));
    try {
      const agent = await open(stop);
      const reading = "codec" in agent ? agent : undefined;
      const tools = reading ? toolFindings(environment.tools ?? [], reading.codec) : [];
      for (const finding of [...reportOf(examined, reading).findings, ...tools])
        if (finding.check !== "splits") io.error(`warning: ${oneLine(findingLine(finding))}`);
      return await evaluate({
        environment,
        agent,
        split,
        trainedShare,
        ...sampling,
        tasks,
        random: randomStream(seed),
        limit: limitConcurrency(64),
        stop,
        onEpisode: progress.one,
        ...(applied && { artefact: applied.artefact }),
      });
    } finally {
      progress.close();
      await dispose();
    }
  });
  if (measured === undefined) return;
  const episodes = [...Map.groupBy(measured.trajectories, ({ episode }) => episode).values()];
  for (const played of episodes.slice(0, shown)) {
    io.record(episodeRecord(played));
    io.say(...episodeLines(played, io), "");
  }
  report(
    measured,
    { options, sampling, replyTokens, applied, folder: found?.folder, trainedShare, least },
    io,
  );
}

interface Evaluated {
  readonly options: EvalOptions;
  readonly sampling: Sampling;
  /** Where it is not the environment's own. */
  readonly replyTokens: number | undefined;
  readonly applied: Awaited<ReturnType<typeof evaluatedPolicy>>["artefact"];
  readonly folder: string | undefined;
  readonly trainedShare: number;
  /** Success below this fails. */
  readonly least: number | undefined;
}

function report(
  { result, trajectories }: Awaited<ReturnType<typeof evaluate>>,
  { options, sampling, replyTokens, applied, folder, trainedShare, least }: Evaluated,
  io: Io,
): void {
  const failures = trajectories.flatMap(({ end }) => (end.kind === "failed" ? [oneLine(end.message)] : []));
  const passed = least === undefined || result.success.mean >= least;
  io.record({
    type: "evaluation",
    ...(folder !== undefined && { folder }),
    ...(options.chat !== undefined && { chat: options.chat }),
    ...(options.model !== undefined && { model: options.model }),
    artefact: applied ? { id: applied.id, name: applied.name, kind: applied.artefact.kind } : null,
    ...result,
    ...sampling,
    ...(replyTokens !== undefined && { replyTokens }),
    ...(least !== undefined && { failUnder: least, passed }),
  });
  io.say(
    ...folded(
      io,
      `${splitName(result.split, trainedShare)}, ${samplingWords(sampling)}: success ${interval(result.success)}, reward ${number(result.reward)}, ${number(result.turns)} turns, ${counted(result.success.n, "task")}, ${duration(result.seconds)}`,
    ),
    ...artefactLines(applied, options.artefact),
  );
  if (result.failed > 0)
    io.say(
      ...folded(
        io,
        `${counted(result.failed, "failed episode")} ${result.failed === 1 ? "is" : "are"} left out; the first: ${failures[0]}`,
      ),
    );
  if (result.turns === 0) {
    io.error(
      "whetstone: no episode reached an action: prompts fill the context, or episodes end before the first action.",
    );
    io.code = 1;
  }
  if (result.failed === result.tasks) {
    io.error("whetstone: every episode failed: nothing was measured.");
    io.code = 1;
  }
  if (!passed) {
    io.error(`whetstone: success ${percent(result.success.mean)} is under ${percent(least)}.`);
    io.code = 1;
  }
}

const heldOut = ({ splits }: Environment): string =>
  splits.find((s) => s !== "train" && s !== "validation") ?? splits.at(-1)!;

async function environmentOf(named: string | undefined, begun: RunRecord | undefined): Promise<Environment> {
  if (named !== undefined) return requireEnvironment("--env", named);
  if (begun) return recordedEnvironment(begun, await recordedConfig(begun));
  throw new WhetstoneError("option.range", {
    where: "--env",
    got: "no environment, and no run that names one",
    expected: "an environment",
    fix: "Name one; whetstone envs lists them.",
  });
}

function withoutTasks(split: string, all: Examination["splits"]): WhetstoneError {
  const others = all.flatMap(({ name, tasks }) => (tasks.length > 0 ? [name] : []));
  return new WhetstoneError("option.range", {
    where: "--split",
    got: `${split}, which has no tasks`,
    expected: "a split to measure on",
    fix: `Give tasks("${split}") some, or name a split that has tasks: ${others.join(", ")}.`,
  });
}

/** @throws WhetstoneError for what only makes sense with a suite. */
function refuseOfSuites(options: EvalOptions): void {
  for (const flag of ["player", "out"] as const) {
    if (options[flag] === undefined) continue;
    throw new WhetstoneError("option.range", {
      where: `--${flag}`,
      got: `${options[flag]} without a suite`,
      expected: "--suite beside it",
      fix: "Add --suite, or leave this option out.",
    });
  }
}

const share = (flag: string, text: string): number =>
  numberOption(flag, text, {
    isValid: (value) => value >= 0 && value <= 1,
    expected: "a share from 0 to 1",
    fix: "Write 0.8 for 80 %.",
  });
