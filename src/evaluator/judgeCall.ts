/** One call of a judge: it is answered, or counted as what else became of it. */
import { endsRun } from "../core/chat.ts";
import { isLate, late, within } from "../core/deadline.ts";
import { isWhetstoneError, messageOf } from "../core/errors.ts";
import { able, type Evaluator, totalScore } from "../core/evaluator.ts";
import type { Random } from "../core/random.ts";
import type { JudgedItem } from "./judgedItem.ts";

/**
 * What became of a call: only an answer has a value. A call that was not asked came after the budget was
 * spent; judges abstain together, where they disagree. */
export type CallOutcome = "answered" | "failed" | "timed out" | "off schema" | "not asked" | "abstained";

export interface JudgeCall {
  readonly outcome: CallOutcome;
  /** Probability that reply a is better, or the score of an item. Undefined unless answered. */
  readonly value?: number;
  readonly ms: number;
  /** What went wrong, where something says so. */
  readonly why?: string;
}

/** What bounds the calls of a judge. */
export interface CallLimits {
  /** Seconds after which a call counts as timed out. Default 120. */
  readonly timeoutSeconds?: number;
  /** Runs a call when its turn comes. Default: at once. */
  readonly limit?: <T>(work: () => Promise<T>) => Promise<T>;
  /** No further call is asked after it, and the work ends with its reason. */
  readonly stop?: AbortSignal;
}

/** Asks a judge for a number. @param fits whether a number is an answer. */
export type AskJudge = (
  ask: () => Promise<number | undefined>,
  fits: (x: number) => boolean,
) => Promise<JudgeCall>;

/** Calls within limits: one that fails is counted and ends nothing; after a spent budget, no further one is asked. */
export function judgeCalls({ timeoutSeconds = 120, limit = (work) => work(), stop }: CallLimits): AskJudge {
  let spent: string | undefined;
  return (ask, fits) =>
    limit(async () => {
      stop?.throwIfAborted();
      if (spent !== undefined) return { outcome: "not asked", ms: 0, why: spent };
      const began = performance.now();
      const end = (outcome: CallOutcome, more: Partial<JudgeCall> = {}): JudgeCall => ({
        outcome,
        ms: performance.now() - began,
        ...more,
      });
      try {
        const value = await within(timeoutSeconds, ask(), stop);
        if (value === late) return end("timed out", { why: `no answer within ${timeoutSeconds} s` });
        if (value === undefined) return end("off schema", { why: "no answer that fits" });
        if (typeof value !== "number" || !fits(value))
          return end("off schema", { why: `${String(value)} in place of a number that fits` });
        return end("answered", { value });
      } catch (e) {
        stop?.throwIfAborted();
        if (endsRun(e)) {
          spent = messageOf(e);
          return { outcome: "not asked", ms: 0, why: spent };
        }
        // the method that the evaluator lacks is the caller's mistake, and no failure of a call
        if (isWhetstoneError(e) && e.code === "capability.missing") throw e;
        return end(isLate(e) ? "timed out" : "failed", { why: messageOf(e) });
      }
    });
}

/** The evaluator's number for one item. @throws WhetstoneError `capability.missing` where it has no scores. */
export async function scoreOf(
  evaluator: Evaluator<JudgedItem>,
  item: JudgedItem,
  random: Random,
): Promise<number | undefined> {
  const scores = await able(evaluator, "score")([item], { random });
  return scores?.length === 1 ? totalScore(scores[0]!) : undefined;
}
