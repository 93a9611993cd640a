/** From runs to numbers: success at a budget, over seeds, and which step size was best elsewhere. */
import { mean, meanInterval } from "../../src/common/statistics/statistics.ts";
import type { Interval } from "../../src/core/interval.ts";
import type { Run } from "./run.ts";

/** Success of the policy as it was when no more than this feedback had been spent. */
export function successAt({ points }: Pick<Run, "points">, feedback: number): number {
  const point = points.findLast(([spent]) => spent <= feedback);
  if (point === undefined) throw new Error("a run has a point before any feedback");
  return point[1];
}

/** Mean success at `parts` equal steps of its budget: learning fast and learning far both raise it. */
export const meanSuccess = (run: Pick<Run, "points" | "budget">, parts = 20): number =>
  mean(Array.from({ length: parts }, (_, i) => successAt(run, (run.budget * (i + 1)) / parts)));

/** Over seeds, 95 % t interval. */
export const overSeeds = (runs: readonly Pick<Run, "points">[], feedback: number): Interval =>
  meanInterval(runs.map((run) => successAt(run, feedback)));

export interface ChosenRate {
  readonly learningRate: number;
  /** Whether it is the least or the greatest of those tried. */
  readonly edge: boolean;
}

/** The step size whose runs have the highest mean success over the budget; the smaller one of equals. */
export function chosenRate(tuning: readonly Pick<Run, "points" | "budget" | "learningRate">[]): ChosenRate {
  const byRate = [...Map.groupBy(tuning, (run) => run.learningRate)]
    .map(([learningRate, runs]) => ({ learningRate, worth: mean(runs.map((run) => meanSuccess(run))) }))
    .sort((a, b) => a.learningRate - b.learningRate);
  const first = byRate[0];
  if (first === undefined) throw new Error("no runs to choose a step size from");
  const { learningRate } = byRate.reduce((best, other) => (other.worth > best.worth ? other : best), first);
  return { learningRate, edge: [byRate[0], byRate.at(-1)].some((end) => end?.learningRate === learningRate) };
}
