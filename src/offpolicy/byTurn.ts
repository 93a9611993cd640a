/** Trajectories arranged by turn. */
import type { Sample } from "./sample.ts";

/** One turn of all trajectories, [trajectories] each. */
export interface TurnColumn {
  /** Product of the ratios up to and including this turn, and before it; a finished trajectory keeps its weight. */
  readonly weight: Float64Array;
  readonly before: Float64Array;
  /** 0 after the end, as are the predictions. */
  readonly reward: Float64Array;
  readonly action: Float64Array;
  readonly state: Float64Array;
}

/** As many columns as the longest trajectory has turns. Absent predictions are 0. */
export function byTurn(samples: readonly Sample[]): TurnColumn[] {
  const turns = Math.max(...samples.map((s) => s.ratios.length));
  let before: Float64Array = new Float64Array(samples.length).fill(1);
  return Array.from({ length: turns }, (_, t) => {
    const column: TurnColumn = {
      before,
      weight: before.map((so, i) => so * (samples[i]!.ratios[t] ?? 1)),
      reward: Float64Array.from(samples, (s) => s.rewards[t] ?? 0),
      action: Float64Array.from(samples, (s) => s.predicted?.action[t] ?? 0),
      state: Float64Array.from(samples, (s) => s.predicted?.state[t] ?? 0),
    };
    before = column.weight;
    return column;
  });
}
