/** Stands in for the loop in memory in checks; see hooks.ts. */
import type { TrainedInMemory, TrainInMemoryOptions } from "../../src/train/trainInMemory.ts";

/** What an arm of a check would train: thrown in place of training. */
export class RunFound extends Error {
  readonly run: TrainInMemoryOptions;
  constructor(run: TrainInMemoryOptions) {
    super(`a run of ${run.method.id}`);
    this.run = run;
  }
}

export const trainInMemory = (run: TrainInMemoryOptions): Promise<TrainedInMemory> =>
  Promise.reject(new RunFound(run));
