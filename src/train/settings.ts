/** What a run is made of, once every name has been looked up and every default filled in. */
import type { Method } from "../core/slots.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";

/**
 * Settings of the imitation that a run begins with: the policy learns from demonstrations until the held-out loss stops
 * falling. Defaults are in {@link defaultWarmStart}.
 */
export interface WarmStartSettings {
  readonly learningRate: number;
  /** Factor on the step size whenever the held-out loss stops falling, and how many times it is applied. */
  readonly drop: number;
  readonly drops: number;
  /** Decoupled. Strong decay is what makes so small a model copy names instead of learning them by heart. */
  readonly weightDecay: number;
  /** Demonstrations per update. */
  readonly batch: number;
  /** Most updates. */
  readonly updates: number;
  /** Updates between measurements of the held-out loss. */
  readonly every: number;
  /** Measurements without a fall of the held-out loss until it counts as done. */
  readonly patience: number;
  /** Relative fall that counts. */
  readonly tolerance: number;
}

/** How many tasks a run is measured on, and how often. */
export interface EvaluationSettings {
  /** Held-out tasks per split and mode, before and after. */
  readonly tasks: number;
  /** Iterations between validations; 0 for none. */
  readonly every: number;
  /** Validation tasks. The best validated checkpoint is the run's result. */
  readonly validationTasks: number;
}

export interface RunSettings {
  readonly name: string;
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  readonly seed: number;
  readonly iterations: number;
  /** Wall-clock limit of the training; a run cut by it is not reproducible in its length. */
  readonly budgetSeconds?: number;
  /** Training ends with the iteration in which so many episodes have been played. */
  readonly episodes?: number;
  readonly contextTokens: number;
  /** Episodes that run at once. Does not change results. */
  readonly concurrency: number;
  /** Checkpoint at the first end of an iteration after this many seconds, or more where saving is slow; 0: at every end. */
  readonly checkpointSeconds: number;
  /** Absent: begin from random weights. */
  readonly warmStart?: WarmStartSettings;
  readonly evaluation: EvaluationSettings;
  /** By split: the share of its tasks that are trained on as well. A split that is absent has none. */
  readonly trainedShares: Readonly<Record<string, number>>;
  /** Iterations that rollouts may run ahead of learning; 0: they take turns. */
  readonly staleness: number;
  /** Largest importance weight of a token that was sampled ahead; 0 leaves the correction to the method's own ratios. */
  readonly importanceCap: number;
}

/** Two layers learn the facts from 1,500 tasks with these. */
export const defaultWarmStart: WarmStartSettings = {
  learningRate: 3e-3,
  drop: 0.3,
  drops: 2,
  weightDecay: 1,
  batch: 64,
  updates: 800,
  every: 20,
  patience: 3,
  tolerance: 0.01,
};
