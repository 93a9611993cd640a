import type { Evaluation } from "./runStoreTypes.ts";

/** Of a run's evaluations the one that says what it came to: after it, of held-out tasks before validation, sampled before greedy. */
export function successAfter(evaluations: readonly Evaluation[]): Evaluation | undefined {
  const all = evaluations.filter(({ when }) => when === "after");
  const sampled = all.filter(({ mode }) => mode === "sampled");
  const after = sampled.length > 0 ? sampled : all;
  return after.find(({ split }) => split !== "validation") ?? after[0];
}
