import { type Comparison, pairColumns } from "../common/tokens/pairs.ts";
import type { Advantage } from "../core/slots.ts";
import type { Ref } from "../core/types.ts";
import { outside } from "./preferencePairs.ts";
import { type ChannelOptions, scoredGroups } from "./returns.ts";

/** Settings of {@link outcomePairs}. */
export interface OutcomePairsOptions extends ChannelOptions {
  /** The difference of returns must exceed it to make a pair. Default: any difference above 0. */
  readonly margin?: number;
  /** "all": every pair of unequal returns; "extremes": only the best of a group with its worst, the first among equals. Default "all". */
  readonly pairs?: "all" | "extremes";
  /** Largest number of pairs in which one return is preferred, distributed round-robin, so that few successes are not each paired with every failure. Default: all. */
  readonly rivals?: number;
  /** Named spans of an action whose tokens are excluded from the pairs, e.g. ["thought"]. Default: none. */
  readonly without?: readonly string[];
}

/**
 * Packs every pair of unequal returns in a group for pairwise objectives, the higher one preferred: the columns of
 * `common/tokens/pairs.ts`. It does not change advantages, so it can be combined with an estimator. A group of one, or of
 * equal returns, makes no pair. Only units of one trajectory are compared.
 *
 *     "all":      pairs = { (i, j) of one group : R[i] − R[j] > margin }        for each i at most `rivals`, cyclically from the i-th on
 *     "extremes": pairs = { (argmax R, argmin R) of each group : R[i] − R[j] > margin }
 */
export function outcomePairs(options: OutcomePairsOptions = {}): Advantage<null> {
  const { margin = 0, pairs = "all", rivals = Number.POSITIVE_INFINITY, without = [] } = options;
  return {
    name: "outcomePairs",
    init: () => null,
    apply: (annotated, _state, soFar = new Map()) => {
      const comparisons = scoredGroups(annotated, options).flatMap((group): Comparison[] => {
        const lone = group.flatMap(({ unit, value }) =>
          unit.members.length === 1 ? [{ at: { trajectory: unit.members[0]! }, value }] : [],
        );
        if (pairs === "extremes") return extremes(lone, margin);
        return lone.flatMap((better, i) => {
          const worse = lone.filter(({ value }) => better.value - value > margin);
          const from = worse.length === 0 ? 0 : (i * Math.min(rivals, worse.length)) % worse.length;
          return [...worse.slice(from), ...worse.slice(0, from)]
            .slice(0, rivals)
            .map(({ at }) => ({ chosen: better.at, rejected: at, strength: 1 }));
        });
      });
      return {
        advantages: soFar,
        next: null,
        stats: { pairs: comparisons.length },
        columns: pairColumns(annotated.trajectories, comparisons, (t) => outside(t, without)),
      };
    },
  };
}

/** The best and the worst of a group, where they differ by more than the margin. */
function extremes(
  group: readonly { readonly at: Ref; readonly value: number }[],
  margin: number,
): Comparison[] {
  const ranked = group.toSorted((a, b) => b.value - a.value);
  const [best, least] = [ranked[0], ranked.at(-1)];
  if (!best || !least || best.value - least.value <= margin) return [];
  const worst = ranked.find(({ value }) => value === least.value)!;
  return [{ chosen: best.at, rejected: worst.at, strength: 1 }];
}
