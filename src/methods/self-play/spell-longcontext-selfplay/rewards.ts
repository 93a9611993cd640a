/**
 * Rewards of the three roles. Paper: "SPELL: Self-Play Reinforcement Learning for evolving Long-Context Language Models".
 */

/** 1 where more than half of the verdicts are, else 0; a tie is 0, and so is no verdict. */
export const majority = (verdicts: readonly boolean[]): boolean =>
  verdicts.filter(Boolean).length > verdicts.length / 2;

/**
 * Whether the answer covers the reference: the reference's words stand in it, one after the other, letter case aside. An empty reference is covered by
 * nothing.
 */
export function covers(answer: string, reference: string): boolean {
  const words = (text: string): string => ` ${text.toLowerCase().trim().split(/\s+/).join(" ")} `;
  return reference.trim() !== "" && words(answer).includes(words(reference));
}

/** What a question is paid for the share of its answers that are right, in [0, 1]. */
export type QuestionReward = (share: number) => number;

/**
 * Most for a question that half of the answers get right, and nothing for one that all or none do:
 *
 *     r = exp(−(r̄ − µ)² / 2σ²)          µ = ½, σ = ½/3; 0 where r̄ is 0 or 1
 */
export const borderline: QuestionReward = (share) =>
  share <= 0 || share >= 1 ? 0 : Math.exp(-((share - 0.5) ** 2) / (2 * (0.5 / 3) ** 2));
