/** Predictions that a policy makes of its own attempts, and what they are worth against those. */

/** What is foretold of a group of attempts; a field that was not said is absent. */
export interface Prediction {
  /** Share of right attempts, in eighths. */
  readonly passRate?: number;
  /** Length of a right attempt, in tokens. */
  readonly length?: number;
  /** Words that right attempts use and the task does not. */
  readonly notions: readonly string[];
}

/** An attempt, as predictions are compared with it. */
export interface Attempted {
  readonly right: boolean;
  /** Tokens. */
  readonly length: number;
  readonly text: string;
}

/** Asks for a prediction in the form that {@link predictionIn} reads. */
export const instruction =
  "do not solve it yet . predict how many of 8 attempts will be right , how long a right one is , and what it will use , as : pass 5 length 40 notions one , other";

/** Reads "pass 5 length 40 notions sum , carry". Whole numbers from 0 to 8 are a pass rate. */
export function predictionIn(text: string): Prediction {
  const eighths = /\bpass (\d+)\b/.exec(text)?.[1];
  const length = /\blength (\d+)\b/.exec(text)?.[1];
  const notions = /\bnotions (.*)$/.exec(text)?.[1]?.split(",") ?? [];
  return {
    ...(eighths !== undefined && Number(eighths) <= 8 && { passRate: Number(eighths) / 8 }),
    ...(length !== undefined && { length: Number(length) }),
    notions: notions.map((notion) => notion.trim().toLowerCase()).filter((notion) => notion !== ""),
  };
}

/** How near a pass rate is to the true one: 0.01^|p̂ − p|, which is 1, 0.56, 0.32, 0.10 at distances 0, ⅛, ¼, ½. */
export const rateReward = (predicted: number, rate: number): number => 0.01 ** Math.abs(predicted - rate);

/** 1 where a length lies strictly between the shortest and the longest right attempt, else 0; so 0 too where fewer than two lengths are right. */
export function lengthReward(predicted: number, attempts: readonly Attempted[]): number {
  const lengths = attempts.filter(({ right }) => right).map(({ length }) => length);
  return Number(lengths.some((length) => length < predicted) && lengths.some((length) => length > predicted));
}

/** Without the "s" of a plural, of words of four letters or more that do not end in "ss". */
const singular = (word: string): string =>
  /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word;

/** Share of the notions, those that the task names left out, that more right than wrong attempts contain; 0 without any. */
export function notionReward(
  notions: readonly string[],
  task: string,
  attempts: readonly Attempted[],
): number {
  const named = task.toLowerCase();
  const own = [...new Set(notions.map(singular))].filter((notion) => !named.includes(notion));
  const uses = (right: boolean, notion: string): number =>
    attempts.filter((a) => a.right === right && a.text.toLowerCase().includes(notion)).length;
  const good = own.filter((notion) => uses(true, notion) > uses(false, notion));
  return own.length === 0 ? 0 : good.length / own.length;
}

/** The mean of the three rewards; a field that is missing is worth 0. @param task its text. */
export function metaReward(prediction: Prediction, task: string, attempts: readonly Attempted[]): number {
  const { passRate, length, notions } = prediction;
  const rate = attempts.filter(({ right }) => right).length / attempts.length;
  const parts = [
    passRate === undefined ? 0 : rateReward(passRate, rate),
    length === undefined ? 0 : lengthReward(length, attempts),
    notionReward(notions, task, attempts),
  ];
  return parts.reduce((a, b) => a + b, 0) / parts.length;
}
