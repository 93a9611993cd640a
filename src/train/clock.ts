/** How long a run has taken, earlier sessions included. */
import type { RunState } from "./state.ts";

export interface RunClock {
  /** Seconds of everything. */
  total(): number;
  /** Seconds of training: what a budget is measured by. */
  trained(): number;
  beginTraining(): void;
  /** So many milliseconds of now were no training. */
  leaveOut(ms: number): void;
}

export function runClock(state: Pick<RunState, "seconds" | "trainedSeconds">): RunClock {
  const began = performance.now() - state.seconds * 1000;
  let trainingBegan: number | undefined;
  return {
    total: () => (performance.now() - began) / 1000,
    trained: () =>
      trainingBegan === undefined ? state.trainedSeconds : (performance.now() - trainingBegan) / 1000,
    beginTraining() {
      trainingBegan = performance.now() - state.trainedSeconds * 1000;
    },
    leaveOut(ms) {
      if (trainingBegan !== undefined) trainingBegan += ms;
    },
  };
}
