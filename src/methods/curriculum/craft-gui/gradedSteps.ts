import type { Feedback } from "../../../core/slots.ts";
import type { Turn } from "../../../core/types.ts";

/** Settings of {@link gradedSteps}: weights of the three rules, which add up to 1. */
export interface GradedStepsOptions {
  /** w_f. Default 0.1. */
  readonly format?: number;
  /** w_a. Default 0.3. */
  readonly type?: number;
  /** w_p. Default 0.6. */
  readonly argument?: number;
}

/**
 * Graded reward of an action, from the environment's rewards `format`, `type` and `argument`, each in [0, 1]:
 *
 *     r = w_f format + w_a type + w_p · argument · 1[type = 1]
 *
 * Arguments count only for the right type, or the policy collects them with a wrong action. Undefined for an action without a type.
 */
export function gradeOf({ rewards }: Turn, { format = 0.1, type = 0.3, argument = 0.6 }: GradedStepsOptions) {
  if (rewards.type === undefined) return undefined;
  const given = rewards.type === 1 ? (rewards.argument ?? 0) : 0;
  return format * (rewards.format ?? 1) + type * rewards.type + argument * given;
}

/**
 * The mean grade of an episode's actions, on channel "outcome". An episode in which no action has a type keeps the sum of its
 * environment's rewards, such as a judge's score. None for a failed one.
 * Paper: "CRAFT-GUI: Curriculum-Reinforced Agent For GUI Tasks".
 */
export function gradedSteps(options: GradedStepsOptions = {}): Feedback {
  return async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .map((t) => {
        const grades = t.turns.map((turn) => gradeOf(turn, options)).filter((grade) => grade !== undefined);
        const sum = t.turns.flatMap(({ rewards }) => Object.values(rewards)).reduce((a, b) => a + b, 0);
        const value = grades.length > 0 ? grades.reduce((a, b) => a + b, 0) / grades.length : sum;
        return { kind: "reward", channel: "outcome", about: [{ trajectory: t.id }], value, source: "grades" };
      });
}
