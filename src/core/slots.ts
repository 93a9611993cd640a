/** The slots that a method fills. A piece receives typed context and imports no other slot and no engine. */
import type { Batch, Row } from "./batch.ts";
import type { Clock, Ctx, StatefulHelper } from "./context.ts";
import type { Critique } from "./critique.ts";
import type { Json } from "./json.ts";
import type { Capability } from "./model.ts";
import type { Objective } from "./objective.ts";
import type { Random } from "./random.ts";
import type { Signal } from "./signal.ts";
import type { Id, ModelId, Ref, Stats, Task, Trajectory, Unit } from "./types.ts";

/** What a rollout brought home. `rows` are extra rows made by re-rendering; usual rows are made from the trajectories. */
export interface Experience {
  readonly trajectories: readonly Trajectory[];
  readonly units: readonly Unit[];
  readonly rows?: readonly Row[];
  /** What critics said of trajectories on the way, by trajectory; one that is absent was not criticised, or not intelligibly. */
  readonly critiques?: ReadonlyMap<Id, Critique>;
  /** What the rollout itself measured: rates of keeping, repairing, first-turn accuracy… */
  readonly stats?: Stats;
}

/** Notes by name, then trajectory: one number per turn unless the note says otherwise. */
export type Notes = Readonly<Record<string, ReadonlyMap<Id, Float32Array>>>;

/** A named number at a place. */
export interface Credited {
  readonly at: Ref;
  readonly value: number;
}
export type Channels = Readonly<Record<string, readonly Credited[]>>;

/** Everything known about an experience so far; each stage adds its part. */
export interface Evidence extends Experience {
  readonly notes: Notes;
  readonly signals: readonly Signal[];
  readonly channels: Channels;
}

/** One number per action token of each trajectory. A trajectory that is absent is not trained on. */
export type Advantages = ReadonlyMap<Id, Float32Array>;

export type Rollout = (ctx: Ctx) => Promise<Experience>;
export type Annotate = (ctx: Ctx, experience: Experience) => Promise<Notes>;
export type Feedback = (ctx: Ctx, experience: Experience, notes: Notes) => Promise<readonly Signal[]>;
export type Credit = (evidence: Omit<Evidence, "channels">) => Channels;
/** Makes steps, or writes a memory. What it reports has been averaged. */
export type Update = (
  ctx: Ctx,
  batch: Batch,
  objectives: readonly Objective[],
  evidence: Evidence,
) => Promise<Stats>;

/** Baselines and normalises. State is plain data and is checkpointed. */
export interface Advantage<State extends Json = Json> {
  readonly name: string;
  init(): State;
  /** @param soFar what the estimators before it in the list made; what it returns takes its place, so it adds to it. */
  apply(evidence: Evidence, state: State, soFar: Advantages | undefined): Advantaged<State>;
}
export interface Advantaged<State extends Json = Json> {
  readonly advantages: Advantages;
  readonly next: State;
  readonly stats: Stats;
  /** Further per-token numbers for the objective, by name (a group's deviation, a mask…); they become `Batch.columns`. */
  readonly columns?: Readonly<Record<string, Advantages>>;
}

/** Chooses what to practise next and learns from how it went. Owns all mutable state per task. */
export interface Data<State extends Json = Json> {
  readonly name: string;
  init(tasks: readonly Task[]): State;
  choose(tasks: readonly Task[], state: State, random: Random, clock: Clock): Chosen<State>;
  observe(evidence: Evidence, state: State, clock: Clock): State;
}
export interface Chosen<State extends Json = Json> {
  readonly practice: readonly Task[];
  readonly next: State;
}

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

/** How a frozen model of a run follows the policy. */
export interface FrozenRule {
  /** Share of the policy that is blended in after each iteration: 0 keeps it, 1 copies the policy. Default 0. */
  readonly blend?: number;
}

/** Where a further model of a run begins. */
export interface ModelRule {
  readonly from: "policy" | "fresh";
  readonly heads?: readonly string[];
}

/** @param random the helper's own stream. Pieces know what it takes and gives; the run only keeps it. */
export type MakeHelper = (random: Random) => StatefulHelper<never, never, unknown>;

/** A choice in each slot. Built with `method()`, which fills what is not named from the GRPO baseline. */
export interface Method {
  readonly id: string;
  readonly family: string;
  /** One line for lists. */
  readonly summary: string;
  readonly needs: readonly Capability[];
  /** It learns without weights, and selects by itself what it learnt. */
  readonly weightFree?: true;
  /** Texts that its pieces say to the policy beside the environment's, critiques included: their words join the lexicon. */
  readonly says?: readonly string[];
  /** Frozen models that its pieces ask for by name: taken from the policy at the start, blended after each iteration. */
  readonly frozen?: Readonly<Record<string, FrozenRule>>;
  /** Further models that its pieces ask for by name. */
  readonly models?: Readonly<Record<ModelId, ModelRule>>;
  /** Learned helpers that its pieces ask for by name, each made anew for a run. */
  readonly helpers?: Readonly<Record<string, MakeHelper>>;
  readonly slots: Slots;
  /** Phases replace some slots from a given iteration of the method on, for good or until before a later one. */
  readonly phases?: readonly {
    readonly name: string;
    readonly from: number;
    readonly until?: number;
    readonly slots: Partial<Slots>;
  }[];
}
