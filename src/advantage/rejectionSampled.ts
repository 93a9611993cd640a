import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { type ChannelOptions, groupStats, type Scored, scoredGroups, spread } from "./returns.ts";

/** Settings of {@link rejectionSampled}. */
export interface RejectionSampledOptions extends ChannelOptions {
  /**
   * "successes": returns of at least `threshold`. { best, among }: the `best` highest of each group; or, among "batch", as
   * many over all groups together, so that tasks compete and hard ones may be left out altogether.
   */
  readonly keep?: "successes" | { readonly best: number; readonly among?: "group" | "batch" };
  /** Smallest return that is a success, in the unit of the rewards. Default 1. */
  readonly threshold?: number;
  /** Most successes of a group, so that easy tasks do not crowd out the rest. Default: no limit. */
  readonly most?: number;
}

/**
 * Selects units for imitation: advantage 1 on every token of the kept units; the others are not trained on.
 *
 *     "successes":     keep i where R[i] ≥ threshold, the first `most` of each group
 *     { best: k }:     keep the k highest R of each group; among "batch", the k · groups highest R of all
 *
 * Among equal returns the first ones are kept. With "successes", a group without a success gives nothing; with `best`, a
 * group of one keeps its only member. Units without feedback have no return and are never kept. Stats: `kept`, the share
 * of scored units.
 * Papers: "RAFT: Reward rAnked FineTuning for Generative Foundation Model Alignment" (best of each group, or of the batch);
 * "Scaling Relationship on Learning Mathematical Reasoning with Large Language Models" (successes).
 */
export function rejectionSampled(options: RejectionSampledOptions = {}): Advantage<null> {
  const { keep = "successes", threshold = 1, most } = options;
  const chosen = (groups: readonly Scored[][]): Scored[] => {
    if (keep === "successes")
      return groups.flatMap((group) => group.filter((s) => s.value >= threshold).slice(0, most));
    const { best, among = "group" } = keep;
    if (among === "batch") return highest(groups.flat(), best * groups.length);
    return groups.flatMap((group) => highest(group, best));
  };
  return {
    name: "rejectionSampled",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const groups = scoredGroups(annotated, options);
      const kept = chosen(groups);
      const values = new Map<Id, number>(kept.map((s) => [s.unit.id, 1]));
      const scored = groups.flat().length;
      const stats = { ...groupStats(groups), ...(scored > 0 && { kept: kept.length / scored }) };
      return { advantages: spread(annotated, values, soFar), next: null, stats };
    },
  };
}

const highest = (scored: readonly Scored[], count: number): Scored[] =>
  scored.toSorted((a, b) => b.value - a.value).slice(0, count);
