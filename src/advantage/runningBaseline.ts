import type { Advantage } from "../core/slots.ts";
import type { Id, Unit } from "../core/types.ts";
import { type ChannelOptions, groupStats, moments, type Scored, scoredGroups, spread } from "./returns.ts";

/** Settings of {@link runningBaseline}. */
export interface RunningBaselineOptions extends ChannelOptions {
  /** Share of the old baseline that each iteration keeps, in [0, 1). Default 0.9. */
  readonly keep?: number;
  /** One baseline for the whole run, or one for each group, such as a task. Default "run". */
  readonly per?: "run" | "group";
}

/**
 * REINFORCE with an exponential moving average of past returns as its baseline. Unbiased: the baseline of an iteration
 * depends on earlier iterations alone. The first iteration, of the run or of a group, has no baseline and uses plain returns.
 *
 *     A[i] = R[i] − b,   then   b ← keep · b + (1 − keep) · mean(R)      the first b is mean(R)
 *
 * Paper: "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning".
 */
export function runningBaseline(
  options: RunningBaselineOptions = {},
): Advantage<{ readonly baseline: number | null; readonly groups?: Readonly<Record<Id, number>> }> {
  const { keep = 0.9, per = "run" } = options;
  const moved = (old: number | undefined, scored: readonly Scored[]): number => {
    const { mean } = moments(scored.map((s) => s.value));
    return old === undefined ? mean : keep * old + (1 - keep) * mean;
  };
  return {
    name: "runningBaseline",
    init: () => ({ baseline: null }),
    apply: (annotated, state, soFar) => {
      const groups = scoredGroups(annotated, options);
      const scored = groups.flat();
      const run = state.baseline ?? undefined;
      const past = ({ group }: Unit): number => (per === "run" ? run : state.groups?.[group]) ?? 0;
      const values = new Map<Id, number>(scored.map((s) => [s.unit.id, s.value - past(s.unit)]));
      const advantages = spread(annotated, values, soFar);
      const stats = groupStats(groups);
      if (scored.length === 0) return { advantages, next: state, stats };
      const all = { baseline: moved(run, scored) };
      const own = groups.map((some): [Id, number] => {
        const { group } = some[0]!.unit;
        return [group, moved(state.groups?.[group], some)];
      });
      return {
        advantages,
        next: per === "run" ? all : { ...all, groups: { ...state.groups, ...Object.fromEntries(own) } },
        stats: { ...stats, baseline: moments(scored.map((s) => past(s.unit))).mean },
      };
    },
  };
}
