/** Trajectories side by side, turn by turn. */
import type { Sample } from "./sample.ts";

/** One turn of all trajectories, [trajectories] each. */
export interface TurnColumn {
  /** Π of the ratios up to and with this turn, and before it; a trajectory that is over keeps its weight. */
  readonly weight: Float64Array;
  readonly before: Float64Array;
  /** 0 from the end on, as the predictions are. */
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
