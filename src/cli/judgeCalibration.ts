/** A correction of a judge's scores that is fitted to labels of people and kept in a file. */
import { resolve } from "node:path";
import { z } from "zod";
import { replaceFile, requireNewFile } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Evaluator } from "../core/evaluator.ts";
import { calibrated } from "../evaluator/calibrated.ts";
import { type Correction, fitCorrection, recalibration } from "../evaluator/correction.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import { answeredReplies } from "../evaluator/judgeReport.ts";
import type { JudgedLabel } from "../evaluator/judgeTrial.ts";
import type { Labels, ReplyLabel } from "../evaluator/labels.ts";
import { readJsonFile } from "./jsonFile.ts";

const probability = z.number().min(0).max(1);

const fileSchema = z.object({
  kind: z.literal("judge calibration"),
  of: z.string(),
  /** What makes the judge the same one. */
  identity: z.string(),
  /** Number of labels that it was fitted to. */
  labels: z.int().positive(),
  correction: z.discriminatedUnion("by", [
    z.object({ by: z.literal("temperature"), temperature: z.number().positive() }),
    z.object({
      by: z.literal("isotonic"),
      steps: z
        .array(z.object({ from: probability, to: probability, level: probability }))
        .nonempty()
        .refine(
          (steps) =>
            steps.every(({ from, to, level }, i) => {
              const before = steps[i - 1];
              return from <= to && (!before || (before.to < from && before.level <= level));
            }),
          "steps that overlap or fall",
        ),
    }),
  ]),
});

/** The correction in a file, and the judge that it belongs to. */
export type CalibrationFile = z.output<typeof fileSchema>;

/** What came of fitting one. */
export type FittedCalibration =
  | {
      readonly file: string;
      readonly by: Correction["by"];
      readonly labels: number;
      /** Mean squared error on labels that the correction was not fitted to: without it, with it, and the least that is gained. */
      readonly before: number;
      readonly after: number;
      readonly gain: number;
    }
  | { readonly notWritten: string };

/** Refuses, before a judge is asked, what no correction can be fitted to. @throws WhetstoneError `option.range`, `run.exists`. */
export function requireFittable(file: string, labels: Labels): void {
  requireNewFile(file, "--fit-calibration");
  if (labels.kind === "replies") return;
  throw new WhetstoneError("option.range", {
    where: "--fit-calibration",
    got: "labels of pairs",
    expected: "labels of single replies, {prompt, reply, label}, as scores are corrected",
    fix: "Give such labels; comparisons are corrected from code, by calibrated of whetstone/evaluator.",
  });
}

/** Fits a correction to what a judge said of labels, and writes it, or says why there is none. @param judge whose answers they are. */
export async function fitCalibration(
  file: string,
  judge: Pick<CalibrationFile, "of" | "identity">,
  labels: readonly ReplyLabel[],
  judged: readonly JudgedLabel[],
): Promise<FittedCalibration> {
  if (judged.some(({ forward }) => forward.outcome === "not asked"))
    return { notWritten: "the judge was not asked about all labels" };
  const all = answeredReplies(labels, judged);
  if (all.some(({ p }) => p < 0 || p > 1)) return { notWritten: "its scores are not all from 0 to 1" };
  const fitted = fitCorrection(all);
  if ("why" in fitted) return { notWritten: fitted.why };
  const { correction, ...measured } = fitted;
  const row = { kind: "judge calibration", ...judge, labels: all.length, correction } as const;
  try {
    requireNewFile(file, "--fit-calibration");
    await replaceFile(resolve(file), `${JSON.stringify(row)}\n`);
  } catch (e) {
    return { notWritten: messageOf(e) };
  }
  return { file, by: correction.by, labels: all.length, ...measured };
}

/** @throws WhetstoneError `config.invalid` for another file. */
export const readCalibration = (file: string): Promise<CalibrationFile> =>
  readJsonFile(file, fileSchema, "a correction that --fit-calibration wrote");

/** @throws WhetstoneError `option.range` where the correction belongs to another judge. */
export function requireSameJudge({ of, identity }: CalibrationFile, judge: string): void {
  if (judge === identity) return;
  throw new WhetstoneError("option.range", {
    where: "--calibration",
    got: `a correction of another judge, or of one that has changed since: ${of}`,
    expected: "the judge that it was fitted to, with the same text, model, address and rubric",
    fix: "Fit one with --against labels.jsonl --fit-calibration calibration.json.",
  });
}

/** The judge with its scores corrected. It does not compare, as that is not what was fitted; a score outside of 0 to 1 is no answer. */
export function correctedJudge(judge: Evaluator<JudgedItem>, correction: Correction): Evaluator<JudgedItem> {
  const by = recalibration(correction);
  const score = judge.score?.bind(judge);
  return calibrated({ name: judge.name, ...(score && { score }) }, (x) =>
    x >= 0 && x <= 1 ? by(x) : Number.NaN,
  );
}
