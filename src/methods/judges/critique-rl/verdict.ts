/**
 * What verdicts and refinements are paid.
 * Paper: "Critique-RL: Training Language Models for Critiquing through Two-Stage Reinforcement Learning".
 */
import type { Critiqued } from "../../../rollout/critiqued.ts";

/** First stage: 1 for a true verdict, else −1; no verdict is a wrong one. */
export const discriminating = ({ verdict, right }: Pick<Critiqued, "verdict" | "right">): number =>
  verdict === right ? 1 : -1;

/** Second stage: 1[right after the critique] + `bonus` for a true verdict, else −1. */
export const helpful =
  (bonus: number) =>
  ({ verdict, right, refined }: Critiqued): number =>
    verdict === right ? refined + bonus : -1;
