/** A running training run, and the result of one of its iterations. */
import type { Ctx } from "../core/context.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Advantages, AnnotatedExperience, Experience } from "../core/slots.ts";
import type { ModelId, Stats, Task } from "../core/types.ts";
import type { RunSettings } from "./config.ts";
import type { ContextParts } from "./contextParts.ts";
import type { EvaluationResult, RunEvent } from "./events.ts";
import type { HeldOut } from "./heldOut.ts";
import type { RunState } from "./state.ts";

/** Result of one iteration. */
export interface Iteration {
  readonly experience: Experience;
  readonly advantages: Advantages;
  readonly stats: Stats;
  readonly seconds: { readonly rollout: number; readonly update: number };
}

/** A running training run: its models, streams and records, with the operations of the loop. */
export interface Run {
  readonly settings: RunSettings;
  readonly state: RunState;
  readonly policy: Model;
  /** The policy and the method's auxiliary models. */
  readonly models: ReadonlyMap<ModelId, Model>;
  /** Frozen weights that async rollouts play with, by name. They are saved with the run. */
  readonly snapshots: Map<string, Frozen>;
  readonly random: Random;
  readonly stop: AbortSignal;
  /** Tasks to train on. */
  readonly tasks: readonly Task[];
  /** Tasks that may not be trained on. */
  readonly heldOut: HeldOut;
  /** True once the budget of time or episodes is used up, or a watch has ended the training. */
  isSpent(): boolean;
  /** @param over parts that replace the run's own. */
  context(tasks: readonly Task[], phase?: string, over?: Partial<ContextParts>): Ctx;
  report(event: RunEvent): void;
  /** Blends the frozen models towards the policy, as the method says, and stores the helpers' states. */
  settle(): Promise<void>;
  /**
   * Looks at what an iteration was paid for before it is learnt from, where the run is watched; see `WatchOptions`.
   * @param diversity of its answers; undefined where nothing was tried twice. @returns its metrics.
   */
  watch(ctx: Ctx, experience: AnnotatedExperience, diversity: number | undefined): Promise<Stats>;
  /** Records an iteration: metrics, trajectories, one line of progress. */
  commit(done: Iteration): Promise<void>;
  /** Evaluates the policy on the validation split when due, and keeps the best weights so far. */
  validate(when: "due" | "last"): Promise<void>;
  /** Saves a checkpoint of the current state. */
  checkpoint(): Promise<void>;
  checkpointIfDue(): Promise<void>;
  /** Does work that changes no weights; if a stop interrupts it, the run is saved with this state. */
  saveIfStopped<T>(state: RunState, work: () => Promise<T>): Promise<T>;
  evaluate(
    split: string,
    mode: "sampled" | "greedy",
    tasks: number,
    when: "before" | "during" | "after",
  ): Promise<EvaluationResult>;
  /** Creates or restores the auxiliary models. Called once, when training begins. */
  beginTraining(): Promise<void>;
  /** Closes the run's files and disposes of its snapshots; episodes that are still playing record nothing. */
  close(): Promise<void>;
}
