import type { Critique } from "../core/critique.ts";
import type { Able } from "../core/evaluator.ts";
import type { Rollout } from "../core/slots.ts";
import { type Message, succeeded, type Trajectory } from "../core/types.ts";
import { critiqueAndRetry, withCritiques } from "./critiqueAndRetry.ts";

/** Settings of {@link retryWithFeedback}. */
export interface RetryWithFeedbackOptions {
  readonly critiquer: Able<"critique">;
  /** Which attempts are retried. Default: unsuccessful ones. */
  readonly again?: (t: Trajectory) => boolean;
  /** Advice for the second attempt. Default: the critique's text. */
  readonly advice?: (critique: Critique, first: Trajectory) => string | readonly Message[];
  /** "advised": keep a retry as it was played, in a group of retries alone; "plain": keep it without the advice, in the group of its first attempt; or both. Default "both". */
  readonly keep?: "advised" | "plain" | "both";
  /** Whether plain retries form a separate group, "<group>/plain". Default false. */
  readonly apart?: boolean;
  /** Default 1. */
  readonly temperature?: number;
}

/** Fixed text of {@link attemptAndCritique}. */
export const attemptWords = "your attempt :\n";

/** The actions of an attempt, one per line, and its critique: advice for a retry that revises the attempt. */
export const attemptAndCritique = ({ text }: Critique, { turns }: Trajectory): string =>
  `${attemptWords}${turns.map(({ action }) => `${action.content}\n`).join("")}${text}`;

/**
 * Feedback between attempts: extends a rollout by one retry for each unsuccessful attempt, in a new episode with the
 * critique in its context.
 *
 *     advised: (x, f, y′)   group "<group>/advised"        plain: (x, y′)   group of the first attempt
 *
 * Both have the first attempt as lineage parent. An attempt without critique, or whose retry failed, has no retry. The
 * critiques are included in the result.
 *
 * Stats: retries per attempt of the units, and repaired, the share of retries that succeeded.
 */
export function retryWithFeedback(rollout: Rollout, options: RetryWithFeedbackOptions): Rollout {
  const { critiquer, again = (t) => !succeeded(t), keep = "both", apart = false, temperature } = options;
  const { advice = (critique) => critique.text } = options;
  return async (ctx) => {
    const first = await rollout(ctx);
    const reviews = await critiqueAndRetry(ctx, first, {
      critiquer,
      stream: "critique",
      of: again,
      retry: (critique, t) => ({
        advice: advice(critique, t),
        turn: 0,
        ...(temperature !== undefined && { temperature }),
      }),
    });
    const further = reviews.flatMap(({ group, retry }) => [
      ...(retry && keep !== "advised" ? [{ t: retry.plain, group: apart ? `${group}/plain` : group }] : []),
      ...(retry && keep !== "plain" ? [{ t: retry.advised, group: `${group}/advised` }] : []),
    ]);
    const retries = reviews.flatMap(({ retry }) => retry ?? []);
    const repaired = retries.filter(({ advised }) => succeeded(advised)).length;
    const stats = retries.length > 0 ? { repaired: repaired / retries.length } : {};
    return withCritiques(first, reviews, further, stats);
  };
}
