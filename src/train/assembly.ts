/** The parts of a run that saving.ts and recording.ts share. */
import type { Frozen, Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { AuxiliaryModels } from "./auxiliaryModels.ts";
import type { RunClock } from "./clock.ts";
import type { RunSettings } from "./config.ts";
import type { TrainStudent } from "./contextParts.ts";
import type { RunEvent } from "./events.ts";
import type { Journal } from "./journal.ts";
import type { Records } from "./records.ts";
import type { Iteration } from "./running.ts";
import type { RunState } from "./state.ts";

/** What the caller of a run provides. */
export interface Surroundings {
  readonly records: Records;
  readonly report: (event: RunEvent) => void;
  readonly stop: AbortSignal;
  /** Trains students of the method. */
  readonly learn?: TrainStudent;
  /** Called after each iteration is recorded. */
  readonly onIteration?: (done: Iteration, state: RunState, policy: Model) => void | Promise<void>;
}

export interface Assembly extends Surroundings, AuxiliaryModels {
  readonly settings: RunSettings;
  readonly state: RunState;
  readonly policy: Model;
  /** Frozen weights that async rollouts play with, by name. */
  readonly snapshots: Map<string, Frozen>;
  readonly random: Random;
  readonly clock: RunClock;
  readonly journal: Journal | undefined;
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
}
