import { scoredGroups, scoredUnits, spread } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import { median } from "../../../common/statistics/statistics.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";
import { rising } from "./schedules.ts";
import { replayGroup } from "./selfImitating.ts";

/** Settings of {@link recalibrated}. */
export interface RecalibratedOptions {
  /** Iterations over which the weight of replayed attempts rises to 1. Default 200. */
  readonly over?: number;
  /** Group means that the baseline of replayed attempts is the median of, the newest ones. Default 10,240. */
  readonly history?: number;
  /** "median": that baseline. "none": replayed attempts keep their whole reward. Default "median". */
  readonly baseline?: "median" | "none";
}

/** Iterations so far, and the means of past groups, oldest first. */
export interface RecalibratedState extends Readonly<Record<string, number | readonly number[]>> {
  readonly iteration: number;
  readonly means: readonly number[];
}

/**
 * Advantages of new attempts against their group, and of replayed ones against what the policy achieves now:
 *
 *     new:       A = R + b − mean of its group
 *     replayed:  Ã = R − median of the last group means of R; only where Ã > 0, times γ(s) = (1 − cos(π s / S)) / 2
 *
 * R: channel "outcome", without the bonus; b: all other channels. The median is over groups' means, not over rewards, and includes
 * this iteration's. The loss is linear in positive factors of A, so γ is the weight of the replay's loss. Replayed attempts that
 * are no better than the median are absent. Stats: `staleReplays`, the share of replayed attempts that were dropped.
 * Paper: "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning".
 */
export function recalibrated(options: RecalibratedOptions = {}): Advantage<RecalibratedState> {
  const { over = 200, history = 10_240, baseline = "median" } = options;
  return {
    name: "recalibrated",
    init: () => ({ iteration: 0, means: [] }),
    apply: (annotated, { iteration, means: past }, soFar) => {
      const origins = mapById(annotated.trajectories);
      const isNew = (group: string): boolean => group !== replayGroup;
      const meanOf = (xs: readonly { readonly value: number }[]): number =>
        xs.reduce((sum, { value }) => sum + value / xs.length, 0);
      const outcomes = scoredGroups(annotated, { channels: ["outcome"] }).filter(([first]) =>
        isNew(first!.unit.group),
      );
      const means = [...past, ...outcomes.map(meanOf)].slice(-history);
      const values = new Map<Id, number>();
      const groups = scoredGroups(annotated, {}).filter(([first]) => isNew(first!.unit.group));
      let dead = 0;
      for (const group of groups) {
        const mean = meanOf(group);
        if (group.every(({ value }) => value === group[0]!.value)) dead++;
        for (const { unit, value } of group) values.set(unit.id, value - mean);
      }
      const again = scoredUnits(annotated, { channels: ["outcome"] }).filter(
        ({ unit }) => !isNew(unit.group) && origins.get(unit.id)?.origin === "replayed",
      );
      const middle = baseline === "none" || means.length === 0 ? 0 : median(means);
      const weight = over === 0 ? 1 : rising(iteration, over);
      const better = again.filter(({ value }) => value - middle > 0);
      for (const { unit, value } of better) values.set(unit.id, weight * (value - middle));
      return {
        advantages: spread(annotated, values, soFar),
        next: { iteration: iteration + 1, means },
        stats: {
          groups: groups.length,
          ...(groups.length > 0 && { deadGroups: dead / groups.length }),
          ...(again.length > 0 && { staleReplays: 1 - better.length / again.length }),
        },
      };
    },
  };
}
