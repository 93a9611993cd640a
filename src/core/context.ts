/** What a slot piece may use, whatever engine and environment stand behind it. */
import type { Artefact, ArtefactVersion } from "./artefact.ts";
import type { Critique, CritiqueWish } from "./critique.ts";
import type { Json } from "./json.ts";
import type { Frozen, Model } from "./model.ts";
import type { Random } from "./random.ts";
import type { Signal } from "./signal.ts";
import type { Id, Message, ModelId, Role, Task, Trajectory } from "./types.ts";

export interface Clock {
  /** Iteration of the run, from 0. */
  readonly iteration: number;
  /** "warm start", "train", or a name that a method gave. */
  readonly phase: string;
  /** Optimiser steps so far. */
  readonly step: number;
  /** Iterations that the run is planned for, where a schedule may lean on it. */
  readonly iterations?: number;
}

/** What is counted, since equal budgets are what makes a comparison fair. */
export type Counter =
  | "episodes"
  | "episodes.failed"
  | "demonstrations"
  | "turns"
  | "environment.steps"
  | "generations"
  | "tokens.sampled"
  | "tokens.discarded"
  | "tokens.trained"
  | "rows.cut"
  | "verifier.calls"
  | "judge.calls"
  | "judge.failures"
  | "jobs.late"
  | "artefacts.proposed"
  | "artefacts.refused";

/** A policy that is a program: it sees what a model would see, and says what a model would say. */
export interface ProgramPolicy {
  /** Unlike those of other programs: episodes are known by it. */
  readonly name: string;
  /** Pure: same conversation and stream, same action. */
  act(task: Task, conversation: readonly Message[], random: Random): string;
}

/** What is said to an agent at a place of its episode. Replayed turns keep what they were told. */
export type Advise = (seen: Seen) => readonly Message[] | Promise<readonly Message[]>;

/** Where an agent is about to act. */
export interface Seen {
  readonly role: Role;
  /** Its own actions so far. */
  readonly turn: number;
  /** What is new to it, at first with the task's prompt, and without what it is told. */
  readonly messages: readonly Message[];
  readonly stateKey?: string;
}

/** One episode to play. Its randomness derives from (run, iteration, task, attempt) and nothing else. */
export interface Play {
  /** One of the run's tasks, or one made on the way (a proposer's, a variant). */
  readonly task: Id | Task;
  /** Tells apart the episodes of one task in one iteration. */
  readonly attempt: number;
  /**
   * So many attempts at the task, from 0, begin at once and alike: their first actions may be drawn together. Of no
   * effect where an episode need not begin as the others do. Default 1.
   */
  readonly together?: number;
  /** Which model, or frozen one, plays which role. Default: "policy" plays every role. */
  readonly models?: Readonly<Record<Role, ModelId>>;
  /** Every model that plays is mixed, at its logits, with so much of this frozen one; see `SampleRequest.mix`. */
  readonly mix?: { readonly with: string; readonly share: number };
  /**
   * The environment's scripted player of that name plays every role instead: a demonstration, of origin "demonstrated",
   * in the policy's tokens and without log-probabilities. Its attempts are numbered apart from sampled ones.
   */
  readonly player?: "expert" | "flawed";
  /** A program plays every role: a policy without weights or tokens, whose episodes end where the environment ends them. */
  readonly program?: ProgramPolicy;
  /** Replay this trajectory's actions up to the turn, then go on. */
  readonly from?: {
    readonly trajectory: Trajectory;
    readonly turn: number;
    readonly why: "retry" | "branch";
  };
  /** Said to the agent as a user message before it acts; or messages, such as an earlier attempt and what was said of it. */
  readonly advice?: string | readonly Message[];
  /** Said to the agent before each of its actions, after what it observes: lessons that fit what it sees. */
  readonly advise?: Advise;
  /** What "policy" is told before it acts. Default: the artefact that is in force; "none" tells it nothing. */
  readonly artefact?: Artefact | "none";
  readonly temperature?: number;
  /** Models choose among what an observation lists as legal, where it lists anything: nothing else can be sampled. */
  readonly constrained?: boolean;
  /** Smaller limits than the environment's own. */
  readonly limits?: { readonly turns?: number; readonly actionTokens?: number };
}

/** A learned helper: reward model, propensity, retriever, progress estimator, world model. */
export interface Helper<In, Label, Out> {
  fit(
    rows: readonly { readonly x: In; readonly y: Label; readonly weight: number }[],
  ): Promise<Readonly<Record<string, number>>>;
  predict(xs: readonly In[]): Promise<readonly Out[]>;
}

/** A helper together with what it remembers, which is checkpointed. */
export interface StatefulHelper<In, Label, Out> extends Helper<In, Label, Out> {
  save(): Json;
  load(state: Json): void;
}

/** A training run inside a run, e.g. a student that a proposer is judged by. */
export interface InnerRun {
  readonly model: Model;
  readonly tasks: readonly (Id | Task)[];
  readonly iterations: number;
  /** Tasks on which success is measured afterwards. Default: the tasks practised. */
  readonly measure?: readonly Id[];
}

/** Plain data that a method's pieces keep between iterations: a case memory, a prompt population. Checkpointed. */
export interface Memory {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
}

/** A version as a learner proposes it. */
export type ArtefactCandidate = Omit<ArtefactVersion, "id" | "created" | "erased">;

/** What the policy of a run is told: what learners without weights write. Every version is kept with its lineage. */
export interface Artefacts {
  /** What every episode is told that does not say otherwise; nothing at first, unless the run began with one. */
  current(): ArtefactVersion | undefined;
  /** Of the versions proposed in this run, the one with that id. */
  version(id: Id): ArtefactVersion | undefined;
  /**
   * Notes a candidate. It is not in force by that.
   * @returns the version, or the parts that give away a task which is held out: then it is refused, and noted nowhere.
   */
  propose(candidate: ArtefactCandidate): ArtefactVersion | { readonly refused: readonly string[] };
  /** Puts a version in force, from the next episode on. @throws WhetstoneError `name.unknown` where none of that id was proposed. */
  adopt(id: Id): void;
}

export interface Ctx {
  readonly clock: Clock;
  /** This iteration's own stream; split it, never share it between concurrent pieces. */
  readonly random: Random;
  /** The tasks that the data slot chose for this iteration. */
  readonly practice: readonly Task[];
  task(id: Id): Task;
  /** The model of that name; a clear error when the run has none. Default "policy". */
  model(id?: ModelId): Model;
  frozen(name: string): Frozen;
  /** The helper that the method declares under that name, typed as the method's pieces know it. */
  helper<In = unknown, Label = number, Out = number>(name: string): Helper<In, Label, Out>;
  /** Plays an episode; one trajectory per role. A failing environment costs its episode, not the run. */
  play(play: Play): Promise<readonly Trajectory[]>;
  /** The environment's own verdict on a trajectory, as signals. */
  verify(trajectory: Trajectory): Promise<readonly Signal[]>;
  /**
   * Probability that the environment's judge prefers the first of two trajectories of one task; absent where it failed.
   * @throws WhetstoneError `capability.missing` where the environment compares nothing.
   */
  prefer(first: Trajectory, second: Trajectory): Promise<number | undefined>;
  /**
   * The environment's own templated critique of a trajectory, true or misleading; absent where it failed.
   * @throws WhetstoneError `capability.missing` where the environment criticises nothing.
   */
  critique(trajectory: Trajectory, wish: CritiqueWish): Promise<Critique | undefined>;
  /** Vectors of length 1, the closer the more alike; see `Encoder`. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  learn(run: InnerRun): Promise<{ readonly success: number }>;
  readonly memory: Memory;
  readonly artefacts: Artefacts;
  count(counter: Counter, amount: number): void;
}
