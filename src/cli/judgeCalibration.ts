/** A correction of a judge's numbers that is fitted to labels of people and kept in a file. */
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { z } from "zod";
import { replaceFile } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { comparingScores, type Evaluator } from "../core/evaluator.ts";
import { calibrated } from "../evaluator/calibrated.ts";
import { alongSteps, atTemperature, isotonicSteps, type Recalibration } from "../evaluator/calibration.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import { type Forecast, forecastsOf, type JudgeReport } from "../evaluator/judgeReport.ts";
import type { JudgedLabel } from "../evaluator/judgeTrial.ts";
import type { Labels } from "../evaluator/labels.ts";

const probability = z.number().min(0).max(1);

const correctionSchema = z.discriminatedUnion("by", [
  z.object({ by: z.literal("temperature"), temperature: z.number().positive() }),
  z.object({
    by: z.literal("isotonic"),
    steps: z.array(z.object({ from: probability, to: probability, level: probability })).nonempty(),
  }),
]);

type Correction = z.output<typeof correctionSchema>;

const fileSchema = z.object({
  kind: z.literal("judge calibration"),
  /** What it was fitted to: comparisons of pairs, or scores of single replies. It corrects nothing else. */
  labels: z.enum(["pairs", "replies"]),
  of: z.string(),
  /** What makes the judge the same one. */
  identity: z.string(),
  correction: correctionSchema,
});

/** The correction in a file, and the judge that it belongs to. */
export type CalibrationFile = z.output<typeof fileSchema>;

/** What came of fitting one. */
export interface FittedCalibration {
  /** The correction that is in the file; "none" where none is better than the judge's own numbers, and nothing is written. */
  readonly by: Correction["by"] | "none";
  /** Expected calibration error on labels that the correction was not fitted to: without it, and with it. */
  readonly before: number;
  readonly after: number;
}

/**
 * Writes the correction that has the smaller error on labels that it was not fitted to, fitted to all of them.
 * @param judge whose answers they are. @throws WhetstoneError `option.range` where the report has no calibration.
 */
export async function fitCalibration(
  file: string,
  judge: Pick<CalibrationFile, "of" | "identity">,
  labels: Labels,
  judged: readonly JudgedLabel[],
  { calibration, uncalibrated }: JudgeReport,
): Promise<FittedCalibration> {
  if (!calibration) {
    throw new WhetstoneError("option.range", {
      where: "--fit-calibration",
      got: uncalibrated ?? "scores that are not all from 0 to 1",
      expected: "a judge that answers from 0 to 1, on labels that show how sure it may be",
      fix: "Give more labels, or put the scores on that scale.",
    });
  }
  const { temperature, error, corrected } = calibration;
  const forecasts = forecastsOf(labels, judged);
  const found = [
    ...(temperature === undefined
      ? []
      : [{ after: corrected.temperature.mean, fit: () => ({ by: "temperature" as const, temperature }) }]),
    { after: corrected.isotonic.mean, fit: () => stepsOf(forecasts) },
  ].reduce((a, b) => (b.after < a.after ? b : a));
  const before = error.mean;
  if (found.after >= before) return { by: "none", before, after: before };
  const correction = found.fit();
  const row: CalibrationFile = { kind: "judge calibration", labels: labels.kind, ...judge, correction };
  await replaceFile(resolve(file), `${JSON.stringify(row)}\n`);
  return { by: correction.by, before, after: found.after };
}

function stepsOf(forecasts: readonly Forecast[]): Correction {
  const steps = isotonicSteps(
    forecasts.map(({ p }) => p),
    forecasts.map(({ better }) => Number(better)),
  );
  return correctionSchema.parse({ by: "isotonic", steps });
}

/** @throws WhetstoneError `config.invalid` for another file. */
export async function readCalibration(file: string): Promise<CalibrationFile> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (e) {
    throw new WhetstoneError("config.invalid", {
      where: basename(file),
      got: messageOf(e).replaceAll(/\s+/g, " "),
      expected: "a correction that --fit-calibration wrote",
      fix: "Name such a file.",
      cause: e,
    });
  }
}

const recalibration = (correction: Correction): Recalibration =>
  correction.by === "temperature"
    ? (p) => atTemperature(p, correction.temperature)
    : alongSteps(correction.steps);

/**
 * The judge with its numbers corrected, and without the ability whose numbers the correction does not fit.
 * @throws WhetstoneError `option.range` where it was fitted to something else, or to another judge.
 */
export function requireCalibration(
  { labels, of, identity, correction }: CalibrationFile,
  judge: { readonly identity: string; readonly ability: "compare" | "score" },
): (evaluator: Evaluator<JudgedItem>) => Evaluator<JudgedItem> {
  const fits = labels === "pairs" ? "compare" : "score";
  if (judge.identity !== identity || judge.ability !== fits) {
    throw new WhetstoneError("option.range", {
      where: "--calibration",
      got:
        judge.ability === fits
          ? `a correction of another judge, or of one that has changed since: ${of}`
          : `a correction that was fitted to ${labels === "pairs" ? "pairs" : "single replies"}`,
      expected:
        judge.ability === fits
          ? "the judge that it was fitted to, with the same text, model, address and rubric"
          : `one that was fitted to ${labels === "pairs" ? "single replies" : "pairs"}`,
      fix: "Fit one with --against labels.jsonl --fit-calibration calibration.json.",
    });
  }
  const by = recalibration(correction);
  return (judge) => {
    const { name, score, compare } = judge;
    const comparing = compare ? { name, compare: compare.bind(judge) } : comparingScores(judge);
    return calibrated(
      fits === "compare" ? comparing : { name, ...(score && { score: score.bind(judge) }) },
      by,
    );
  };
}
