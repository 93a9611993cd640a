/** The judges that a command line names: modules, and a model behind an API. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { counted } from "../common/text/counted.ts";
import type { Chat, Spend } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Evaluator } from "../core/evaluator.ts";
import type { ChatOptions } from "../engine/chat/chat.ts";
import type { EnsembleRule } from "../evaluator/ensemble.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import { chatPairJudge } from "../evaluator/pairJudge.ts";
import { type ChatFlags, chatOf } from "./chat.ts";
import { fittedJudge, isFittedFile } from "./fittedFile.ts";
import { correctedJudge, readCalibration, requireSameJudge } from "./judgeCalibration.ts";
import { loadModule } from "./module.ts";

export interface JudgeFlags extends ChatFlags {
  readonly evaluator?: string;
  /** Further modules. */
  readonly judge: readonly string[];
  readonly rubric: string;
  /** A file with a correction of the judge's numbers. */
  readonly calibration?: string;
}

/** The judges, in the order of the modules, then the model behind an API. */
export interface JudgePanel {
  /** As they are told apart in a report. */
  readonly names: readonly string[];
  /** What makes each the same one, for work that goes on: a module's text, a model with its address and its rubric. */
  readonly identities: readonly string[];
  /** Whether one of them has a head for each of several aspects. */
  readonly hasHeads: boolean;
  /** The judges, and what the model behind an API has cost until then. */
  ready(
    stop: AbortSignal,
    calls: Pick<ChatOptions, "timeoutSeconds" | "concurrency" | "againSeconds">,
  ): {
    readonly judges: readonly Evaluator<JudgedItem>[];
    spent(): Spend | undefined;
  };
}

/**
 * @param ability "compare": judges that compare or score will do; "score": judges must score.
 * @throws WhetstoneError `option.range` without a judge; `config.invalid` for a module that is none.
 */
export async function judgePanel(flags: JudgeFlags, ability: "compare" | "score"): Promise<JudgePanel> {
  const files = [...(flags.evaluator === undefined ? [] : [flags.evaluator]), ...flags.judge];
  if (flags.evaluator !== undefined && flags.chat !== undefined)
    throw oneJudge("both --evaluator and --chat");
  if (files.length === 0 && flags.chat === undefined) throw oneJudge("no judge");
  const modules = await Promise.all(files.map((file) => evaluatorOf(file, ability)));
  const texts = await Promise.all(files.map((file) => readFile(file)));
  const chat = flags.chat === undefined ? undefined : `${flags.model} at ${flags.chat}: ${flags.rubric}`;
  const panel: JudgePanel = {
    names: [...files, ...(chat === undefined ? [] : [flags.model ?? "chat"])],
    identities: [...texts.map(digest), ...(chat === undefined ? [] : [chat])],
    hasHeads: modules.some(({ aspects }) => aspects !== undefined && aspects.size > 1),
    ready(stop, calls) {
      const model: Chat | undefined = chat === undefined ? undefined : chatOf(flags, stop, calls);
      return {
        judges: [...modules, ...(model ? [chatPairJudge(model, flags.rubric)] : [])],
        spent: () => model?.spent(),
      };
    },
  };
  return flags.calibration === undefined ? panel : await corrected(panel, flags.calibration, ability);
}

const digest = (text: Buffer | string): string => createHash("sha256").update(text).digest("hex");

/** The one judge of a panel, with its scores corrected by a file. */
async function corrected(panel: JudgePanel, file: string, ability: "compare" | "score"): Promise<JudgePanel> {
  requireOneJudge(panel, "--calibration");
  requireOneHead(panel, "--calibration");
  if (ability === "compare") {
    throw new WhetstoneError("option.range", {
      where: "--calibration",
      got: "it with labels of pairs",
      expected: "labels of single replies, or what is to be scored: scores are corrected, and no comparisons",
      fix: "Leave it out.",
    });
  }
  const calibration = await readCalibration(file);
  requireSameJudge(calibration, panel.identities[0]!);
  return {
    names: panel.names,
    identities: [...panel.identities, digest(JSON.stringify(calibration))],
    hasHeads: false,
    ready(stop, calls) {
      const { judges, spent } = panel.ready(stop, calls);
      return { judges: judges.map((judge) => correctedJudge(judge, calibration.correction)), spent };
    },
  };
}

/** Digest of what makes a score the same one: another text, model, address, rubric, correction or vote is another version. */
export const judgeVersion = (
  { identities, names }: Pick<JudgePanel, "identities" | "names">,
  rule: EnsembleRule,
): string => digest(JSON.stringify([identities, names.length > 1 && rule])).slice(0, 12);

/** The version that a judge in a file of this text has alone. */
export const versionOfFile = (text: string): string =>
  judgeVersion({ identities: [digest(text)], names: ["file"] }, { vote: "mean", abstain: 1 });

/** @throws WhetstoneError `option.range` for several judges. */
export function requireOneJudge({ names }: JudgePanel, flag: string): void {
  if (names.length === 1) return;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: counted(names.length, "judge"),
    expected: "one judge",
    fix: "Run the command once for each judge.",
  });
}

/** @throws WhetstoneError `option.range` for a judge with several heads: a correction is of one number. */
export function requireOneHead({ hasHeads }: JudgePanel, flag: string): void {
  if (!hasHeads) return;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: "a judge with several heads",
    expected: "a judge of one number, as that is what is corrected",
    fix: "Fit a judge to the labels of one aspect.",
  });
}

const oneJudge = (got: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "judge",
    got,
    expected:
      "--evaluator file.ts, or --chat with --model; several judges by --judge, once for each; with --against and --fit, none",
    fix: "Name the judge, or fit one to the labels.",
  });

/** The evaluator that a module exports, or a fitted judge. @throws WhetstoneError `config.invalid` where it is none. */
export async function evaluatorOf(
  file: string,
  ability: "compare" | "score",
): Promise<Evaluator<JudgedItem>> {
  if (isFittedFile(file)) return await fittedJudge(file);
  const made = await loadModule(file);
  const is = (key: string): boolean =>
    typeof made === "object" && made !== null && typeof (made as Record<string, unknown>)[key] === "function";
  if (is("score") || (ability === "compare" && is("compare"))) return made as Evaluator<JudgedItem>;
  throw new WhetstoneError("config.invalid", {
    where: basename(file),
    got: "a default export without such a method",
    expected: ability === "compare" ? "an evaluator with compare or score" : "an evaluator with score",
    fix: "Export one by default, such as { name, compare: async (first, second) => probability }.",
  });
}
