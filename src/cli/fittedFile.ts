/** The file of a fitted judge. */
import { resolve } from "node:path";
import { replaceFile } from "../common/files/files.ts";
import type { Able } from "../core/evaluator.ts";
import type { JudgedItem } from "../evaluator/judgedItem.ts";
import { type FittedJudge, fittedJudgeSchema, judgeFrom } from "../train/fittedJudge.ts";
import { readJsonFile } from "./jsonFile.ts";

/** Writes a fitted judge, whole or not at all. */
export const writeFitted = (file: string, judge: FittedJudge): Promise<void> =>
  replaceFile(resolve(file), `${JSON.stringify(judge)}\n`);

/** The judge in such a file. @throws WhetstoneError `config.invalid` for another file. */
export const readFitted = async (file: string): Promise<Able<"compare" | "score", JudgedItem>> =>
  judgeFrom(await readJsonFile(file, fittedJudgeSchema, "a judge that --distil or --fit wrote, or a module"));
