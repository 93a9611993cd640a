import { type ModelId, succeeded, type Trajectory } from "../../../core/types.ts";
import type { IsError } from "./stepGame.ts";

/** Settings of {@link byCompletions}. */
export interface CompletionsOptions {
  /** The solver, a model or frozen model of the run. */
  readonly solver: ModelId;
  /** N, completions after each of the two steps. Default 4. */
  readonly completions?: number;
  /** Smallest success after the step as it was. Default 0.75. */
  readonly high?: number;
  /** Largest success after the rewritten step. Default 0.5. */
  readonly low?: number;
}

/** Attempt numbers of completions: above those of any rollout's own attempts. */
const firstAttempt = 1_000_000;

/**
 * A step is an error where the solver often succeeds after the step as it was, and clearly less often after the rewritten one:
 *
 *     p(t_k) ≥ high   and   p(t′_k) ≤ low          p: share of N completions that succeed
 *
 * A text that is the step itself is no error. A last step has nothing after it: its completion is the attempt itself. Needs an environment
 * that can replay. Paper: "SPC: Evolving Self-Play Critic via Adversarial Games for LLM Reasoning".
 */
export function byCompletions({
  solver,
  completions = 4,
  high = 0.75,
  low = 0.5,
}: CompletionsOptions): IsError {
  return async (ctx, attempt, k, rewritten) => {
    if (rewritten.turns[k]!.action.content.trim() === attempt.turns[k]!.action.content.trim()) return false;
    // attempts have different numbers in one iteration, and so have their completions
    const number = firstAttempt * (1 + ctx.random.split("completions", attempt.id).below(1_000_000));
    const successAfter = async (trajectory: Trajectory, from: number): Promise<number> => {
      const plays = Array.from({ length: completions }, (_, i) =>
        ctx.play({
          task: attempt.task,
          attempt: number + from + i,
          from: { trajectory, turn: k + 1, why: "branch" },
          models: Object.fromEntries(ctx.roles.map((role) => [role, solver])),
        }),
      );
      const ends = (await Promise.all(plays)).flat().filter(({ end }) => end.kind !== "failed");
      return ends.length === 0 ? Number.NaN : ends.filter(succeeded).length / ends.length;
    };
    const after = await successAfter(rewritten, 0);
    if (!(after <= low)) return false;
    return (await successAfter(attempt, completions)) >= high;
  };
}
