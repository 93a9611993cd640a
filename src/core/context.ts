/** The context of a slot piece: everything it may use, independent of engine and environment. */
import type { Artefact, ArtefactVersion } from "./artefact.ts";
import type { EnvironmentEvaluator, EvaluatorRun } from "./evaluator.ts";
import type { Json } from "./json.ts";
import type { Frozen, Model } from "./model.ts";
import type { Random } from "./random.ts";
import type { Id, Message, ModelId, Role, Task, Trajectory } from "./types.ts";

/** How far a run has come. Schedules and data slots read it. */
export interface Clock {
  /** Iteration of the run, from 0. */
  readonly iteration: number;
  /** "warm start", "train", or a phase that the method names. */
  readonly phase: string;
  /** Optimiser steps so far. */
  readonly step: number;
  /** Planned number of iterations of the run, if known, for schedules. */
  readonly iterations?: number;
}

/** A policy that is a program: it gets the conversation that a model would get, and returns the action's text. */
export interface ProgramPolicy {
  /** Unique among programs: it is part of the identity of an episode. */
  readonly name: string;
  /** Pure: the same conversation and random stream give the same action. */
  act(task: Task, conversation: readonly Message[], random: Random): string;
}

/** Returns the messages that advise an agent before an action. Replayed turns keep their original messages. */
export type Advise = (seen: Seen) => readonly Message[] | Promise<readonly Message[]>;

/** What an agent sees before an action. */
export interface Seen {
  readonly role: Role;
  /** Number of its own actions so far. */
  readonly turn: number;
  /** Messages since its last action, without artefact and advice; before the first action, the task's prompt as well. */
  readonly messages: readonly Message[];
  readonly stateKey?: string;
}

/** One episode to play. Its randomness derives from (run, iteration, task, attempt) and nothing else. */
export interface Play {
  /** One of the run's tasks, or a task made during the run (by a proposer, or a variant). */
  readonly task: Id | Task;
  /** Distinguishes the episodes of one task in one iteration. */
  readonly attempt: number;
  /**
   * Number of attempts at the task, from 0, that start at once with the same prompt: their first actions may be sampled
   * together. No effect where episodes may start differently. Default 1.
   */
  readonly together?: number;
  /** The model or frozen model that plays each role. Default: "policy" plays every role. */
  readonly models?: Readonly<Record<Role, ModelId>>;
  /** Mixes the logits of every playing model with this share of the frozen model's; see `SampleRequest.mix`. */
  readonly mix?: { readonly with: string; readonly share: number };
  /**
   * The environment's scripted player of that name plays every role: a demonstration with origin "demonstrated", in the
   * policy's tokens and without log-probabilities. Its attempts are numbered separately from sampled ones.
   */
  readonly player?: "expert" | "flawed";
  /** A program, without weights or tokens, plays every role. Only the environment ends its episodes. */
  readonly program?: ProgramPolicy;
  /** Replay this trajectory's actions up to the turn, then continue by sampling. */
  readonly from?: {
    readonly trajectory: Trajectory;
    readonly turn: number;
    readonly why: "retry" | "branch";
  };
  /** A user message for the agent before it acts; or messages, such as an earlier attempt and its critique. */
  readonly advice?: string | readonly Message[];
  /** Messages for the agent before each action, after its observation, such as retrieved lessons. */
  readonly advise?: Advise;
  /** The artefact applied to the prompts of "policy". Default: the current artefact; "none" applies none. */
  readonly artefact?: Artefact | "none";
  readonly temperature?: number;
  /** Where an observation lists legal actions, sampling is restricted to them. */
  readonly constrained?: boolean;
  /** Limits below the environment's own. */
  readonly limits?: { readonly turns?: number; readonly actionTokens?: number };
}

/** A learned helper: reward model, propensity, retriever, progress estimator, world model. */
export interface Helper<In, Label, Out> {
  fit(
    rows: readonly { readonly x: In; readonly y: Label; readonly weight: number }[],
  ): Promise<Readonly<Record<string, number>>>;
  predict(xs: readonly In[]): Promise<readonly Out[]>;
}

/** A helper with its state, which is checkpointed. */
export interface StatefulHelper<In, Label, Out> extends Helper<In, Label, Out> {
  save(): Json;
  load(state: Json): void;
}

/** A training run inside a run, e.g. of a student whose progress scores a proposer. */
export interface InnerRun {
  /** Name of the method in `Method.students` that trains it. */
  readonly student: string;
  /** The model that learns, such as a fork of one of the run's. The caller disposes of it. */
  readonly model: Model;
  /** What it trains on: training tasks of the run, or tasks made on the way. */
  readonly tasks: readonly (Id | Task)[];
  readonly iterations: number;
  /** Tasks on which success is measured afterwards. Default: the training tasks. */
  readonly measure?: readonly Id[];
  /** How its actions are drawn where success is measured. Default "sampled". */
  readonly mode?: "sampled" | "greedy";
}

/** Plain data that a method's pieces keep between iterations, such as a case memory or a prompt population. Checkpointed. */
export interface Memory {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
}

/** A version that a learner proposes. */
export type ArtefactCandidate = Omit<ArtefactVersion, "id" | "created" | "erased">;

/** The artefacts of a run, which learners without weights write. Every version is kept with its lineage. */
export interface Artefacts {
  /** The version that episodes use by default; undefined at first, unless the run began with one. */
  current(): ArtefactVersion | undefined;
  /** The version with that id among those proposed in this run. */
  version(id: Id): ArtefactVersion | undefined;
  /**
   * Records a candidate. It does not become current; see `adopt`.
   * @returns the version; or `refused`, the parts that leak a held-out task: such a candidate is not recorded.
   */
  propose(candidate: ArtefactCandidate): ArtefactVersion | { readonly refused: readonly string[] };
  /** Makes a version current, from the next episode on. @throws WhetstoneError `name.unknown` where no version with that id was proposed. */
  adopt(id: Id): void;
}

/**
 * Everything that a piece of a method may use in one iteration: tasks, models, helpers, the environment, randomness and
 * memory.
 */
export interface Ctx extends EvaluatorRun {
  readonly clock: Clock;
  /** Random stream of this iteration. Split it; never share it between concurrent pieces. */
  readonly random: Random;
  /** Roles that act in the environment. */
  readonly roles: readonly Role[];
  /** The training tasks that the data slot chose for this iteration; all training tasks while it chooses. */
  readonly tasks: readonly Task[];
  /**
   * A training task, or one made in this iteration, by its id.
   * @throws WhetstoneError `capability.missing` for any other; held-out tasks cannot be reached.
   */
  task(id: Id): Task;
  /** The model of that name; throws when the run has none. Default "policy". */
  model(id?: ModelId): Model;
  frozen(name: string): Frozen;
  /** The helper that the method declares under that name; the caller states its type. */
  helper<In = unknown, Label = number, Out = number>(name: string): Helper<In, Label, Out>;
  /**
   * Plays an episode and returns one trajectory per role. A failing environment fails its episode, not the run.
   * @throws WhetstoneError `capability.missing` for a held-out task, by whatever way the piece came by it.
   */
  play(play: Play): Promise<readonly Trajectory[]>;
  /**
   * The environment as an evaluator. Pieces ask it through `evaluatorIn`, which counts; an evaluator that builds on it asks it
   * directly.
   */
  readonly environment: EnvironmentEvaluator;
  /** Embeddings of length 1; a higher cosine means more similar texts. See `Encoder`. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /**
   * Trains a student in memory and measures it, one episode per task. Held-out tasks are not trained on: they are dropped and
   * counted as tasks.refused. Its episodes, turns and tokens count as the run's. Equal tasks give equal randomness within an iteration.
   * @returns its share of successes in [0, 1]; NaN where every episode failed.
   * @throws WhetstoneError `capability.missing` for a student that the method does not declare.
   */
  learn(run: InnerRun): Promise<{ readonly success: number }>;
  /** Aborts when the run is to end. Long work of a piece's own heeds it; everything that the context offers does. */
  readonly stop: AbortSignal;
  readonly memory: Memory;
  readonly artefacts: Artefacts;
}
