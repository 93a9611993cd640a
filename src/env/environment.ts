/** The environment contract: makes an episode for a task; an episode takes actions and returns observations. */

import type { Random } from "../core/random.ts";
import type { Ending, Message, Role, StopReason, Task, Tool, ToolCall, Trajectory } from "../core/words.ts";

/** What one role sees next. `messages` extend its conversation; nothing that it saw before is repeated. */
export interface Observation {
  readonly messages: readonly Message[];
  readonly stateKey?: string;
  /** The only actions allowed now, as texts, where the environment can list them. */
  readonly legal?: readonly string[];
}

/** What an action led to. */
export interface Step {
  /** Named rewards for the acting role's action; true and shaped ones under different names. */
  readonly rewards?: Readonly<Record<string, number>>;
  /** Feedback in words about the action, if it is not part of the next observation. */
  readonly text?: string;
  readonly end?: Ending;
}

export interface Action {
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly stop: StopReason;
}

/** One play of a task. `observe` and `act` may be asynchronous; each call waits for the one before. */
export interface Episode {
  /** Whose turn it is and what that role sees; called once before every action. */
  observe(): Promise<{ readonly role: Role; readonly observation: Observation }>;
  act(action: Action): Promise<Step>;
  /** A copy in the same state, where the environment declares `fork`. */
  fork?(): Promise<Episode>;
  close?(): Promise<void>;
}

export type Ability = "fork" | "replay" | "stateKey" | "expert" | "legal";

/** A scripted player: sees what the policy sees, plus the task. Same random stream, same actions. */
export type Player = (task: Task, conversation: readonly Message[], random: Random) => string;

/** A named set of tasks. "train" is practised, "validation" selects checkpoints, every other name is held out. */
export type SplitName = string;

export interface Environment {
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  readonly abilities: ReadonlySet<Ability>;
  readonly tools?: readonly Tool[];
  readonly roles: readonly Role[];
  readonly splits: readonly SplitName[];
  readonly limits: {
    readonly turns: number;
    /** Longest action, in tokens of the policy's own tokenizer. */
    readonly actionTokens: number;
    /** Default 60. A hanging episode costs itself only. */
    readonly seconds?: number;
  };
  /** Deterministic: the same split and count give the same tasks. */
  tasks(split: SplitName): readonly Task[];
  /**
   * @param random this episode's own stream, for environments that are stochastic. One that declares `replay` draws from
   *   `task.seed` alone.
   */
  start(task: Task, random: Random): Promise<Episode>;
  /** Texts from which a small tokenizer for this environment can be made: every word that can occur. */
  readonly lexicon?: () => readonly string[];
  /** Solves every task. */
  readonly expert?: Player;
  /** Plays with systematic gaps: demonstrations for a warm start that leaves something to learn. */
  readonly flawed?: Player;
  /** The environment's own verdict on a finished trajectory, as named rewards. Total: never throws on garbage. */
  verify?(task: Task, trajectory: Trajectory): Promise<Readonly<Record<string, number>>>;
}

/** Checks a user's environment at the door and hands it back. */
export function defineEnvironment<E extends Environment>(environment: E): E {
  return environment;
}
