/** A run under way, and what one iteration of it brings. */
import type { Ctx } from "../core/context.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Advantages, Experience } from "../core/slots.ts";
import type { ModelId, Stats, Task } from "../core/types.ts";
import type { ContextParts } from "./context.ts";
import type { EvaluationResult, RunEvent } from "./events.ts";
import type { RunSettings } from "./settings.ts";
import type { RunState } from "./state.ts";

/** What one iteration brings. */
export interface Iteration {
  readonly experience: Experience;
  readonly advantages: Advantages;
  readonly stats: Stats;
  readonly seconds: { readonly rollout: number; readonly update: number };
}

/** A run under way: its models, streams and records, and what the loop asks of them. */
export interface Run {
  readonly settings: RunSettings;
  readonly state: RunState;
  readonly policy: Model;
  /** The policy and what the method has beside it. */
  readonly models: ReadonlyMap<ModelId, Model>;
  /** Weights that play ahead of learning, by name. They are saved with the run. */
  readonly snapshots: Map<string, Frozen>;
  readonly random: Random;
  readonly stop: AbortSignal;
  /** Tasks to train on. */
  readonly tasks: readonly Task[];
  /** True once the wall-clock budget is used up. */
  isSpent(): boolean;
  /** @param over what it sees in place of what the run has. */
  context(tasks: readonly Task[], phase?: string, over?: Partial<ContextParts>): Ctx;
  report(event: RunEvent): void;
  /** Lets the frozen models follow the policy, as the method says, and notes what the helpers remember. */
  settle(): Promise<void>;
  /** Records an iteration: metrics, trajectories, one line of progress. */
  commit(done: Iteration): Promise<void>;
  /** Measures the policy on the validation split where that is due, and keeps the best so far. */
  validate(when: "due" | "last"): Promise<void>;
  /** Saves the run as it stands. */
  checkpoint(): Promise<void>;
  checkpointIfDue(): Promise<void>;
  /** Does work that changes no weights; when a stop ends it, the run is saved with this state. */
  saveIfStopped<T>(state: RunState, work: () => Promise<T>): Promise<T>;
  evaluate(
    split: string,
    mode: "sampled" | "greedy",
    tasks: number,
    when: "before" | "during" | "after",
  ): Promise<EvaluationResult>;
  /** Puts the frozen and further models in place, from the policy as it is now. Call once training begins. */
  beginTraining(): Promise<void>;
  /** Lets go of the run's files, and of weights that played ahead; an episode that outlives the run leaves no trace. */
  close(): Promise<void>;
}
