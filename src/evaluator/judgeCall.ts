/** One call of a judge: it is answered, or counted as what else became of it. */
import { isLate, late, within } from "../core/deadline.ts";
import { isWhetstoneError, messageOf } from "../core/errors.ts";
import { able, type Evaluator, type EvaluatorCall, totalScore } from "../core/evaluator.ts";
import type { JudgedItem } from "./judgedItem.ts";

/**
 * What became of a call: only an answer has a value. A call that was not asked came after the budget was
 * spent, or after the provider was gone; judges abstain together, where they disagree. */
export type CallOutcome = "answered" | "failed" | "timed out" | "off schema" | "not asked" | "abstained";

/** What ends the asking: no call can be answered after it. */
type Ended = "budget.spent" | "provider.gone";

export interface JudgeCall {
  readonly outcome: CallOutcome;
  /** Probability that reply a is better, or the score of an item. Undefined unless answered. */
  readonly value?: number;
  readonly ms: number;
  /** What went wrong, where something says so. */
  readonly why?: string;
  /** Why it was not asked. */
  readonly ended?: Ended;
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

/** Asks a judge for a number. @param ask gets what is aborted once nobody waits for it. @param fits whether a number is an answer. */
export type AskJudge = (
  ask: (signal: AbortSignal) => Promise<number | undefined>,
  fits: (x: number) => boolean,
) => Promise<JudgeCall>;

/** How long a judge that is told that nobody waits has to say what kept it. */
const graceSeconds = 1;

/** Calls within limits: one that fails is counted and ends nothing; after a spent budget, or once the provider is gone, no further one is asked. */
export function judgeCalls({ timeoutSeconds = 120, limit = (work) => work(), stop }: CallLimits): AskJudge {
  let over: JudgeCall | undefined;
  return (ask, fits) =>
    limit(async () => {
      stop?.throwIfAborted();
      if (over) return over;
      const began = performance.now();
      const end = (outcome: CallOutcome, more: Partial<JudgeCall> = {}): JudgeCall => ({
        outcome,
        ms: performance.now() - began,
        ...more,
      });
      const unheard = new AbortController();
      try {
        const asked = ask(unheard.signal);
        const value = await within(timeoutSeconds, asked, stop);
        if (value === late) {
          const why = `no answer within ${timeoutSeconds} s`;
          unheard.abort(new DOMException(why, "TimeoutError"));
          // what kept it may be more than time, such as a server that only answers 500
          const kept = await within(
            graceSeconds,
            asked.then(nothing, (e: unknown) => e),
          );
          if (isWhetstoneError(kept) && !isLate(kept)) throw kept;
          return end("timed out", { why });
        }
        if (value === undefined) return end("off schema", { why: "no answer that fits" });
        if (typeof value !== "number" || !fits(value))
          return end("off schema", { why: `${String(value)} in place of a number that fits` });
        return end("answered", { value });
      } catch (e) {
        if (stop?.aborted) unheard.abort(stop.reason);
        stop?.throwIfAborted();
        if (isWhetstoneError(e) && (e.code === "budget.spent" || e.code === "provider.gone")) {
          over = { outcome: "not asked", ms: 0, why: messageOf(e), ended: e.code };
          return over;
        }
        // the method that the evaluator lacks is the caller's mistake, and no failure of a call
        if (isWhetstoneError(e) && e.code === "capability.missing") throw e;
        return end(isLate(e) ? "timed out" : "failed", { why: messageOf(e) });
      }
    });
}

const nothing = (): undefined => undefined;

/** The evaluator's number for one item. @throws WhetstoneError `capability.missing` where it has no scores. */
export async function scoreOf(
  evaluator: Evaluator<JudgedItem>,
  item: JudgedItem,
  call: EvaluatorCall,
): Promise<number | undefined> {
  const scores = await able(evaluator, "score")([item], call);
  return scores?.length === 1 ? totalScore(scores[0]!) : undefined;
}
