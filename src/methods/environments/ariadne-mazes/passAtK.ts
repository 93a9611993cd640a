/** pass@k, and which tasks a policy cannot solve. */
import { mean } from "../../../common/statistics/statistics.ts";

/** Attempts at one task, and how many of them were right. */
export interface Attempts {
  readonly tried: number;
  readonly right: number;
}

/**
 * Probability that k attempts, drawn without replacement from those made, contain a right one; an unbiased estimator:
 *
 *     pass@k = 1 − C(n − c, k) / C(n, k) = 1 − Π_{i = n − c + 1 … n} (1 − k / i)        n tried, c of them right, k ≤ n
 *
 * NaN where k is more than were tried.
 * Paper: "Evaluating Large Language Models Trained on Code".
 */
export function passAtK({ tried, right }: Attempts, k: number): number {
  if (k > tried) return Number.NaN;
  if (tried - right < k) return 1;
  let missed = 1;
  for (let i = tried - right + 1; i <= tried; i++) missed *= 1 - k / i;
  return 1 - missed;
}

/** Mean pass@k over tasks, for each k. */
export const passCurve = (tasks: readonly Attempts[], ks: readonly number[]): readonly number[] =>
  ks.map((k) => mean(tasks.map((task) => passAtK(task, k))));

/**
 * The first k at which a base policy's pass@k exceeds a tuned one's, although the tuned one is better at smaller k: training
 * then only sharpened what the base policy could already sample. Undefined if the curves do not cross.
 */
export function crossing(
  base: readonly number[],
  tuned: readonly number[],
  ks: readonly number[],
): number | undefined {
  const ahead = ks.findIndex((_, i) => tuned[i]! > base[i]!);
  const at = ahead < 0 ? -1 : ks.findIndex((_, i) => i > ahead && base[i]! > tuned[i]!);
  return ks[at];
}

/**
 * Upper confidence bound of a task's success rate after k independent attempts without a success:
 *
 *     (1 − p)^k = 1 − confidence        4.6 % for k = 64 and 95 %
 */
export const highestUnseen = (k: number, confidence = 0.95): number => 1 - (1 - confidence) ** (1 / k);
