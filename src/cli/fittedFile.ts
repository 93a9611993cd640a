/** The file of a fitted judge. */
import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { replaceFile, requireNewFile } from "../common/files/files.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Able } from "../core/evaluator.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import { type FittedJudge, fittedJudgeSchema, judgeFrom, type OnFit } from "../train/fittedJudge.ts";
import { readJsonFile } from "./jsonFile.ts";
import { type Io, lateProgress } from "./output.ts";

/** Whether a judge is named by such a file, and not by a module. */
export const isFittedFile = (file: string): boolean => file.endsWith(".json");

/** @param flag the option that names it. @throws WhetstoneError `option.range`, `run.exists` where it cannot be written. */
export function requireFittedFile(file: string, flag: string): void {
  requireNewFile(file, flag);
  if (isFittedFile(file)) return;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: file,
    expected: "a name that ends in .json, by which --evaluator and --judge know such a file",
    fix: `Name it ${file}.json.`,
  });
}

/** Writes a fitted judge, whole or not at all. @returns the text of the file. */
export async function writeFitted(file: string, judge: FittedJudge): Promise<string> {
  const text = `${JSON.stringify(judge)}\n`;
  await replaceFile(resolve(file), text);
  return text;
}

/** @throws WhetstoneError `config.invalid` for another file. */
export const readFitted = (file: string): Promise<FittedJudge> =>
  readJsonFile(file, fittedJudgeSchema, "a judge that --distil or --fit wrote, or a module");

/** The judge in such a file. @throws WhetstoneError `config.invalid` for another file. */
export const fittedJudge = async (file: string): Promise<Able<"compare" | "score", JudgedItem>> =>
  judgeFrom(await readFitted(file));

/** Shows how many fits are done, once they take long. */
export function fitProgress(io: Io): OnFit {
  let progress: ReturnType<typeof lateProgress> | undefined;
  return async (done, of) => {
    progress ??= lateProgress(io, "Fits", of);
    progress.one();
    if (done === of) progress.close();
    else await setImmediate(); // fits hold up everything else
  };
}
