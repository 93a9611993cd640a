/** The slots of a method. A piece receives typed context, and imports no other slot and no engine. */
import type { Batch, Row } from "./batch.ts";
import type { Ctx, StatefulHelper } from "./context.ts";
import type { Critique } from "./critique.ts";
import type { Json } from "./json.ts";
import type { Capability } from "./model.ts";
import type { Objective } from "./objective.ts";
import type { Random } from "./random.ts";
import type { Signal } from "./signal.ts";
import type { TrainingExampleKind } from "./trainingExamples.ts";
import type { Id, ModelId, Ref, Stats, Task, Trajectory, Unit } from "./types.ts";

/** Result of a rollout. `rows` are extra rows made by re-rendering; the usual rows are made from the trajectories. */
export interface Experience {
  readonly trajectories: readonly Trajectory[];
  readonly units: readonly Unit[];
  readonly rows?: readonly Row[];
  /** Critiques written during the rollout, by trajectory. A trajectory without a (parseable) critique is absent. */
  readonly critiques?: ReadonlyMap<Id, Critique>;
  /** Measurements of the rollout itself: keep rate, repair rate, first-turn accuracy… */
  readonly stats?: Stats;
}

/** Annotations by name, then trajectory: one number per turn unless the annotation says otherwise. */
export type Notes = Readonly<Record<string, ReadonlyMap<Id, Float32Array>>>;

/** A number at a position of a trajectory. */
export interface Credited {
  readonly at: Ref;
  readonly value: number;
}
/** Credit by channel: each channel has its own list of numbers at positions of trajectories. */
export type Channels = Readonly<Record<string, readonly Credited[]>>;

/** Everything known about an experience so far; each stage adds its part. */
export interface AnnotatedExperience extends Experience {
  readonly notes: Notes;
  readonly signals: readonly Signal[];
  readonly channels: Channels;
}

/** One number per action token of each trajectory. A trajectory that is absent is not trained on. */
export type Advantages = ReadonlyMap<Id, Float32Array>;

/** Plays the episodes of an iteration and groups them into units of comparison. */
export type Rollout = (ctx: Ctx) => Promise<Experience>;
/**
 * Measures something about trajectories after the rollout, such as values or likelihoods of a model, for later slots to
 * read.
 */
export type Annotate = (ctx: Ctx, experience: Experience) => Promise<Notes>;
/** Collects feedback signals on the trajectories, for instance from the environment, a judge or a reward model. */
export type Feedback = (ctx: Ctx, experience: Experience, notes: Notes) => Promise<readonly Signal[]>;
/** Assigns feedback to the turns or spans that earned it. It gets the annotated experience and no context. */
export type Credit = (annotated: Omit<AnnotatedExperience, "channels">) => Channels;
/** Makes optimiser steps, or writes a memory. Returns averaged stats. */
export type Update = (
  ctx: Ctx,
  batch: Batch,
  objectives: readonly Objective[],
  annotated: AnnotatedExperience,
) => Promise<Stats>;

/** An advantage estimator: baselines and normalisation. Its state is plain data and is checkpointed. */
export interface Advantage<State extends Json = Json> {
  readonly name: string;
  init(): State;
  /** @param soFar advantages of the earlier estimators in the list. The returned advantages replace them, so include them. */
  apply(annotated: AnnotatedExperience, state: State, soFar: Advantages | undefined): Advantaged<State>;
}
/** Result of an advantage estimator: the advantages of the action tokens, its next state, and its measurements. */
export interface Advantaged<State extends Json = Json> {
  readonly advantages: Advantages;
  readonly next: State;
  readonly stats: Stats;
  /** Additional named per-token numbers for the objective (a group's deviation, a mask…); they become `Batch.columns`. */
  readonly columns?: Readonly<Record<string, Advantages>>;
}

/** Chooses the training tasks of each iteration and updates its state from the results. Owns all mutable state per task. It may ask: models, judges and the environment. */
export interface Data<State extends Json = Json> {
  readonly name: string;
  init(tasks: readonly Task[]): State;
  /**
   * Chooses what the next iteration trains on: some of the tasks, or tasks that it makes. It may play, score and ask, but
   * changes no weights of the run: a stop in the middle goes on from before the choice.
   * @param ctx its random stream is the choice's own. No held-out task can be reached from it.
   * @param tasks the training tasks.
   */
  choose(ctx: Ctx, tasks: readonly Task[], state: State): Promise<Chosen<State>>;
  /** Learns from an iteration, after the update. */
  observe(ctx: Ctx, annotated: AnnotatedExperience, state: State): Promise<State>;
}
/** The tasks that a data slot chose for an iteration, and its state after the choice. */
export interface Chosen<State extends Json = Json> {
  /** Training tasks, or new ones, which need ids that no other task has. */
  readonly tasks: readonly Task[];
  readonly next: State;
}

/**
 * The eight pieces of a method. An iteration uses them in this order; where a slot is a list, all of its pieces are used.
 */
export interface Slots {
  readonly data: Data;
  readonly rollout: Rollout;
  readonly annotate: readonly Annotate[];
  readonly feedback: readonly Feedback[];
  readonly credit: readonly Credit[];
  readonly advantage: readonly Advantage[];
  readonly objective: readonly Objective[];
  readonly update: Update;
}

/** How a frozen model of a run is updated from the policy. */
export interface FrozenRule {
  /** Share of the policy that is blended in after each iteration: 0 keeps the frozen weights, 1 copies the policy. Default 0. */
  readonly blend?: number;
}

/** Initial weights of an auxiliary model. */
export interface ModelRule {
  readonly from: "policy" | "fresh";
  readonly heads?: readonly string[];
}

/** Value of an option of a method's own: a number, one of some names, or yes or no. */
export type OptionValue = number | string | boolean;

/** Makes a helper. Its types are known to the method's pieces; the run only stores it. @param random stream of the helper alone. */
export type MakeHelper = (random: Random) => StatefulHelper<never, never, unknown>;

/** What a method learns from where it is trained on recorded feedback in place of play. */
export interface LearnsFrom {
  readonly kind: TrainingExampleKind;
  /**
   * Which replies are compared with each other: those to the same prompt ("task"), or all replies of an iteration ("all"),
   * since users rarely send the same prompt twice. Default "all". A pair is always its own group.
   */
  readonly group?: "task" | "all";
}

/** A piece for each slot. Built with `method()`, which fills unnamed slots from the GRPO baseline. */
export interface Method {
  readonly id: string;
  readonly family: string;
  /** One line for lists. */
  readonly summary: string;
  readonly needs: readonly Capability[];
  /** Values of the options of its own that it was built with; absent where it has none. A run records them. */
  readonly options?: Readonly<Record<string, OptionValue>>;
  /** Default: conversations with their rewards. */
  readonly learnsFrom?: LearnsFrom;
  /** It learns without weights, and selects among its artefacts itself. */
  readonly weightFree?: true;
  /** Texts, critiques included, that its pieces send to the policy in addition to the environment's; their words join the vocabulary. */
  readonly says?: readonly string[];
  /** Frozen models that its pieces use by name: copied from the policy at the start, blended after each iteration. */
  readonly frozen?: Readonly<Record<string, FrozenRule>>;
  /** Auxiliary models that its pieces use by name. */
  readonly models?: Readonly<Record<ModelId, ModelRule>>;
  /** Learned helpers that its pieces use by name, made anew for each run. */
  readonly helpers?: Readonly<Record<string, MakeHelper>>;
  /** Methods that train its students, by the name that `Ctx.learn` is given. They have no models beside the student. */
  readonly students?: Readonly<Record<string, Method>>;
  readonly slots: Slots;
  /**
   * What every iteration plays and trains: attempts at tasks, passes over them, and optimiser steps in a pass. Absent where
   * the pieces decide that, or where other models than the policy take their time.
   */
  readonly plan?: Readonly<Record<"tasks" | "groupSize" | "epochs" | "minibatches", number>>;
  /** Phases replace some slots from iteration `from` of the method on, permanently or up to but not including iteration `until`. */
  readonly phases?: readonly {
    readonly name: string;
    readonly from: number;
    readonly until?: number;
    readonly slots: Partial<Slots>;
  }[];
}
