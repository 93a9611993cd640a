/** What an iteration was expected to take, and what it took, in words. */

import { mean } from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
import { gibibytes } from "../common/text/gibibytes.ts";
import type { Metric } from "../store/runStore.ts";
import type { IterationCost } from "../train/estimate.ts";
import type { RunEvent } from "../train/events.ts";
import { duration } from "./output.ts";

const said = ({ seconds, bytes }: IterationCost): string =>
  `${duration(seconds)} and ${gibibytes(bytes)} of memory`;

export function estimateLine({
  came,
  iterations,
  ...expected
}: Extract<RunEvent, { type: "estimate" }>): string {
  const { seconds } = came ?? expected;
  const all = `about ${counted(iterations, "iteration")} in ${duration(iterations * seconds)}`;
  return came
    ? `an iteration took ${said(came)}; estimated ${said(expected)}; ${all}`
    : `estimate: an iteration takes about ${said(expected)}; ${all}`;
}

/** The same of a run that is recorded; undefined for one without an estimate. */
export function recordedEstimate(metrics: readonly Metric[]): string | undefined {
  const of = (name: string): number[] => metrics.filter((m) => m.name === name).map((m) => m.value);
  const [expected, memory] = [of("estimate.seconds"), of("estimate.memory")];
  if (expected.length === 0) return undefined;
  const [rollout, update] = [of("seconds.rollout"), of("seconds.update")];
  const came = { seconds: mean(rollout) + mean(update), bytes: Math.max(...of("memory")) };
  return `an iteration took ${said(came)}; estimated ${said({ seconds: expected[0]!, bytes: memory[0]! })}`;
}
