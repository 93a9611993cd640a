import type { Critique } from "../../../core/critique.ts";
import type { Able } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Message, paid, type Trajectory } from "../../../core/types.ts";
import { critiqueAndRetry, withCritiques } from "../../../rollout/critiqueAndRetry.ts";

/** Settings of {@link reflectThenRetry}. */
export interface ReflectThenRetryOptions {
  /** Gives the outcome, the advice and the pivot turn; the policy itself or another critiquer. */
  readonly critiquer: Able<"critique">;
  /** Message inserted at the pivot. Default: the critique's text. */
  readonly advice?: (critique: Critique, first: Trajectory) => string | readonly Message[];
  /** Least return of a success, in the unit of the rewards. Default 1. */
  readonly threshold?: number;
  /** Whether improved retries are also trained with the advice in context, and helpful reflections too. Default true. */
  readonly positives?: boolean;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * The critiquer reflects on each attempt of the rollout. Unless the outcome is success, the attempt's turns before the pivot
 * are replayed, and the policy continues with the advice in its context.
 *
 *     y = (u[0] … u[k − 1], u[k] …),  f = (outcome, advice, k),  y′ = (u[0] … u[k − 1], u′[k] …) ~ π(· | advice)
 *     explore:   y and y′ without the advice           in the group of y
 *     positive:  y′ with the advice, and f             each in a group of its own
 *                where R(y′) ≥ threshold, and R(y′) > R(y) or y′ has fewer turns
 *                f alone where the outcome is success, and R(y) ≥ threshold
 *
 * y′ names y as its parent and k as its turn, so that credit can begin at the pivot for both. Where a critique names no
 * turn, k = 0. An attempt without a critique, or whose retry failed, has no retry. A reflection is trained on if the critiquer
 * names the model of the run that wrote it; its reward `reflection` is 1. Needs an environment that can replay.
 *
 * Stats: retries per attempt; improved and pivot (the mean k), over retries.
 * Paper: "R^3L: Reflect-then-Retry Reinforcement Learning with Language-Guided Exploration, Pivotal Credit, and Positive
 * Amplification".
 */
export function reflectThenRetry(rollout: Rollout, options: ReflectThenRetryOptions): Rollout {
  const { critiquer, threshold = 1, positives = true, temperature } = options;
  const { advice = (critique) => critique.text } = options;
  return async (ctx) => {
    const first = await rollout(ctx);
    const reviews = await critiqueAndRetry(ctx, first, {
      critiquer,
      stream: "reflection",
      retry: (critique, t) =>
        critique.outcome === "success"
          ? undefined
          : {
              advice: advice(critique, t),
              turn: critique.turn ?? 0,
              ...(temperature !== undefined && { temperature }),
            },
    });
    const further = reviews.flatMap(({ t, group, critique, retry }) => {
      const well = critique?.outcome === "success" && paid(t) >= threshold;
      const helped = retry ? improves(t, retry.advised, threshold) : well;
      const examples = [
        ...(retry ? [retry.advised] : []),
        ...(critique?.written ? [praised(critique.written)] : []),
      ];
      return [
        ...(retry ? [{ t: retry.plain, group }] : []),
        ...(positives && helped ? examples.map((example) => ({ t: example, group: example.id })) : []),
      ];
    });
    const retries = reviews.flatMap(({ t, retry }) => (retry ? [{ t, again: retry.advised }] : []));
    const improved = retries.filter(({ t, again }) => improves(t, again, threshold)).length;
    const pivots = retries.reduce((sum, { again }) => sum + (again.lineage?.turn ?? 0), 0);
    const stats =
      retries.length > 0 ? { improved: improved / retries.length, pivot: pivots / retries.length } : {};
    return withCritiques(first, reviews, further, stats);
  };
}

function improves(before: Trajectory, after: Trajectory, threshold: number): boolean {
  const [r, next] = [paid(before), paid(after)];
  return next >= threshold && (next > r || after.turns.length < before.turns.length);
}

/** A reflection that helped. */
const praised = (t: Trajectory): Trajectory => ({
  ...t,
  turns: t.turns.map((turn, k) =>
    k === t.turns.length - 1 ? { ...turn, rewards: { ...turn.rewards, reflection: 1 } } : turn,
  ),
});
