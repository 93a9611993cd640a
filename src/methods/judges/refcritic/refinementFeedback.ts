/**
 * What critiques are paid for verdicts and for refinements.
 * Paper: "RefCritic: Training Long Chain-of-Thought Critic Models with Refinement Feedback".
 */
import type { Critiqued } from "../../../rollout/critiqued.ts";

/** R_j: 1 for a true verdict, else 0; no verdict is a wrong one. */
export const judging = ({ verdict, right }: Critiqued): number => Number(verdict === right);

/**
 * R_j + λ R_r, where R_r is the share of refinements that are right, and counts only for a wrong attempt that is called wrong. Paid
 * everywhere, it would pay for calling right attempts wrong whose refinements stay right.
 */
export const refining =
  (lambda: number) =>
  (seen: Critiqued): number =>
    judging(seen) + (!seen.right && seen.verdict === false ? lambda * seen.refined : 0);
