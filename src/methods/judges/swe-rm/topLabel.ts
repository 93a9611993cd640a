/**
 * TTS@k, what a verifier is usually chosen by: mean over tasks of the label of the attempt with the highest score, the first of equals.
 * Tasks without attempts do not count; NaN where none has any. It says little about the verifier as a reward: see also the area under the
 * curve (`evaluator/agreement.ts`) and the calibration error (`evaluator/calibration.ts`).
 * Paper: "SWE-RM: Execution-free Feedback For Software Engineering Agents".
 */
export function topLabel(
  tasks: readonly (readonly { readonly score: number; readonly label: boolean }[])[],
): number {
  const best = tasks.flatMap((attempts) => attempts.toSorted((a, b) => b.score - a.score).slice(0, 1));
  return best.reduce((sum, { label }) => sum + Number(label), 0) / best.length;
}
