import type { Able } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import { attemptAndCritique, retryWithFeedback } from "../../../rollout/retryWithFeedback.ts";

/** What the environment said of the last action: messages of a compiler, of tests, of a profiler. Nothing where it said nothing. */
export const told: Able<"critique"> = {
  name: "the environment's text",
  critique: async ({ trajectory }) => {
    const text = trajectory.turns.at(-1)?.text;
    return text === undefined ? undefined : { text };
  },
};

/**
 * Two skills of one turn each, in equal parts: to write a program from the task (A), and to improve an attempt after what running it told
 * (B). Each attempt of A is shown with its feedback and written anew, right or wrong; improvements of one task's attempts are compared with each
 * other. Together the two make the loop of a coder and a verifier, without training over several turns. Paper: "StitchCUDA: An Automated
 * Multi-Agents End-to-End GPU Programing Framework with Rubric-based Agentic Reinforcement Learning".
 */
export const bothSkills = (write: Rollout): Rollout =>
  retryWithFeedback(write, {
    critiquer: told,
    again: () => true,
    advice: attemptAndCritique,
    keep: "advised",
  });
