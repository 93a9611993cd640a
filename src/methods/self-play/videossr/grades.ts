/**
 * Graded rewards of three tasks whose answers are known because the video was altered on purpose.
 * Paper: "VideoSSR: Video Self-Supervised Reinforcement Learning".
 */

/** Kinds of tasks. */
export const kinds = ["grounding", "counting", "jigsaw"] as const;
export type Kind = (typeof kinds)[number];

/**
 * Overlap of two intervals of frames, ends included:
 *
 *     r = |said ∩ true| / |said ∪ true|
 *
 * 0 where the answer is no interval, that is, without exactly two numbers or with the end before the start.
 */
export function intervalGrade(said: readonly number[], truth: readonly number[]): number {
  const [s, e] = said;
  const [from, to] = truth;
  if (said.length !== 2 || s === undefined || e === undefined || e < s) return 0;
  if (from === undefined || to === undefined) return 0;
  const overlap = Math.max(0, Math.min(e, to) - Math.max(s, from) + 1);
  return overlap / (e - s + 1 + (to - from + 1) - overlap);
}

/**
 * Mean over kinds of shapes of how near a count is:
 *
 *     r = mean_c max(0, 1 − |said_c − true_c| / max(true_c, 1))
 *
 * 0 where the answer has another number of counts.
 */
export function countGrade(said: readonly number[], truth: readonly number[]): number {
  if (said.length !== truth.length || truth.length === 0) return 0;
  const near = truth.map((count, c) => Math.max(0, 1 - Math.abs(said[c]! - count) / Math.max(count, 1)));
  return near.reduce((a, b) => a + b, 0) / truth.length;
}

/**
 * How near an order is to the original one, by Spearman's footrule:
 *
 *     r = 1 − Σ_k |pos_said(k) − pos_true(k)| / ⌊n² / 2⌋
 *
 * 0 for the reverse order, and where the answer is no permutation. Random permutations get more than 0 on average (1/3 for many
 * pieces), which a group's mean takes out.
 */
export function orderGrade(said: readonly number[], truth: readonly number[]): number {
  const n = truth.length;
  if (said.length !== n || new Set(said).size !== n || said.some((piece) => !truth.includes(piece))) return 0;
  if (n < 2) return 1;
  const distance = truth.reduce((sum, piece, k) => sum + Math.abs(said.indexOf(piece) - k), 0);
  return 1 - distance / Math.floor((n * n) / 2);
}

const graders: Readonly<Record<Kind, typeof intervalGrade>> = {
  grounding: intervalGrade,
  counting: countGrade,
  jigsaw: orderGrade,
};

/** The numbers of an answer; undefined where it has other words. */
export function numbersIn(reply: string): readonly number[] | undefined {
  const words = reply.trim().split(/\s+/).filter(Boolean);
  return words.every((word) => /^\d+$/.test(word)) ? words.map(Number) : undefined;
}

/** The grade of an answer in [0, 1]; 0 where it has other words than numbers. */
export function gradeOf(kind: Kind, reply: string, truth: readonly number[]): number {
  const said = numbersIn(reply);
  return said === undefined ? 0 : graders[kind](said, truth);
}
