/** Duration of a run, including sessions before a resume. */
import type { RunState } from "./state.ts";

export interface RunClock {
  /** Seconds in total. */
  total(): number;
  /** Seconds of training, which a budget limits. */
  trained(): number;
  beginTraining(): void;
  /** Excludes the last `ms` milliseconds from training time. */
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
