/** The environment contract: an environment starts an episode for a task; an episode takes actions and returns observations. */

import type { Critique, CritiqueRequest } from "../core/critique.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type {
  Ending,
  Message,
  Metadata,
  Role,
  StopReason,
  Task,
  Tool,
  ToolCall,
  Trajectory,
  TurnTokens,
} from "../core/types.ts";

/** The next observation of a role. `messages` extend its conversation; earlier ones are not repeated. */
export interface Observation {
  readonly messages: readonly Message[];
  /**
   * True: `messages` replace the whole conversation, including the task's prompt. The conversation is tokenised again, so the
   * training row is cut here, unless the new tokens continue those of the last action. Where the field is set (true or
   * false), a conversation that the model's codec rejects fails the episode and not the run.
   */
  readonly whole?: boolean;
  /** Token limit of this action, below the environment's limit. */
  readonly maxTokens?: number;
  /** Stop strings of the action. */
  readonly stop?: readonly string[];
  readonly stateKey?: string;
  /** The legal actions as texts, where the environment can list them. */
  readonly legal?: readonly string[];
}

/** Result of an action. */
export interface Step {
  /** Named rewards for the acting role's action; true and shaped ones under different names. */
  readonly rewards?: Readonly<Record<string, number>>;
  /** Named rewards of other roles, added to those of their last actions; those of a role that has not acted are dropped. */
  readonly otherRewards?: Readonly<Record<Role, Readonly<Record<string, number>>>>;
  /** Feedback text on the action, if it is not part of the next observation. */
  readonly text?: string;
  readonly end?: Ending;
}

/** Result of an action after the end of an episode: it has no effect. */
export const alreadyOver: Step = { end: { kind: "done", reason: "already over", success: false } };

/** What a role does in one turn, as the policy wrote it: text, calls of tools, and why the generation stopped. */
export interface Action {
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly stop: StopReason;
  /** Token ids of a token policy, for environments that forward them. */
  readonly sampled?: SampledAction;
}

/** An action as tokens. */
export interface SampledAction {
  readonly tokens: TurnTokens;
  /** The text of each action token alone; "" for special tokens. */
  pieces(): readonly string[];
}

/** One episode of a task. `observe` and `act` may be asynchronous; each call waits for the previous one. */
export interface Episode {
  /** The role to act and its observation; called once before every action. */
  observe(): Promise<{ readonly role: Role; readonly observation: Observation }>;
  act(action: Action): Promise<Step>;
  close?(): Promise<void>;
}

/**
 * An optional property that an environment declares and `whetstone validate` tests: episodes can be repeated
 * from their actions ("replay"), observations carry `stateKey` or `legal`, or there is an `expert`.
 */
export type Ability = "replay" | "stateKey" | "expert" | "legal";

/**
 * A scripted player. It gets the task, the policy's conversation, and the legal actions where the observation lists them.
 * Equal random streams give equal actions.
 */
export type Player<Meta extends object = Metadata> = (
  task: Task<Meta>,
  conversation: readonly Message[],
  random: Random,
  legal?: readonly string[],
) => string;

/** A named set of tasks. "train" is for training, "validation" selects checkpoints, every other name is held out. */
export type SplitName = string;

/** @typeParam Meta type of its tasks' metadata; see {@link defineEnvironment}. */
export interface Environment<Meta extends object = Metadata> {
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  readonly abilities: ReadonlySet<Ability>;
  readonly tools?: readonly Tool[];
  readonly roles: readonly Role[];
  readonly splits: readonly SplitName[];
  readonly limits: {
    readonly turns: number;
    /** Largest length of an action, in tokens of the policy's own tokenizer. */
    readonly actionTokens: number;
    /** Limit on the environment's own time per episode, in seconds; beyond it, the episode fails and not the run. Default 60. */
    readonly seconds?: number;
  };
  /** Deterministic: the same split and count give the same tasks. */
  tasks(split: SplitName): readonly Task<Meta>[];
  /**
   * @param random stream of this episode, for stochastic environments. An environment that declares `replay` must draw from
   *   `task.seed` alone.
   */
  start(task: Task<Meta>, random: Random): Promise<Episode>;
  /** Texts with every word that can occur, from which a word-level tokenizer for this environment is built. */
  readonly vocabulary?: () => readonly string[];
  /** Solves every task, where the ability is declared; else plays well, as in games that luck or an opponent can decide. */
  readonly expert?: Player<Meta>;
  /** Plays with systematic mistakes: demonstrations for a warm start that leaves room for improvement. */
  readonly flawed?: Player<Meta>;
  /** The environment's own rewards of a finished trajectory, by name. Must not throw, whatever the trajectory contains. */
  verify?(task: Task<Meta>, trajectory: Trajectory): Promise<Readonly<Record<string, number>>>;
  /**
   * Probability p in [0, 1] that the first of two finished trajectories is preferred; swapped arguments give 1 − p.
   * Preferences may be intransitive. Must not throw, like `verify`.
   */
  prefer?(task: Task<Meta>, first: Trajectory, second: Trajectory): Promise<number>;
  /**
   * A templated critique of a finished trajectory, true or misleading as `request` requests. Equal random streams give equal
   * critiques. Must not throw, like `verify`.
   */
  critique?(task: Task<Meta>, trajectory: Trajectory, request: CritiqueRequest): Promise<Critique>;
  /** Texts with every word of its critiques that the vocabulary lacks. A run adds them to the vocabulary where its method asks for critiques. */
  readonly critiqueVocabulary?: () => readonly string[];
}

/**
 * Checks the fields of an environment and returns it. `whetstone validate` checks its behaviour.
 *
 * `defineEnvironment<Meta>` sets the type of the tasks' metadata, which `tasks`, `start`, `verify` and the scripted players
 * then share without a cast. Meta may be an interface; its values must be JSON.
 * @throws WhetstoneError `config.invalid`, naming the field.
 * @example
 * interface Parcel { readonly weight: number }
 * defineEnvironment<Parcel>({ …, start: async (task) => weigh(task.metadata.weight) });
 */
export function defineEnvironment<E extends Environment>(environment: E): E;
export function defineEnvironment<Meta extends object>(
  environment: Environment<Meta>,
): Environment<Meta> & Environment;
export function defineEnvironment(environment: Environment): Environment {
  // JavaScript callers and casts may pass anything
  const e = (environment ?? {}) as { readonly [K in keyof Environment]?: unknown };
  const called = isText(e.name) ? `environment "${e.name}"` : "environment";
  const limits = (typeof e.limits === "object" && e.limits !== null ? e.limits : {}) as Record<
    string,
    unknown
  >;
  const needs: readonly (readonly [field: string, value: unknown, fits: boolean, expected: string])[] = [
    ["name", e.name, isText(e.name), "a text that is not empty"],
    ["splits", e.splits, areNames(e.splits), "a list of different names, such as train and test"],
    ["roles", e.roles, areNames(e.roles), "a list of different names, such as agent"],
    ["abilities", e.abilities, e.abilities instanceof Set, "a Set, such as new Set()"],
    ["tasks", e.tasks, typeof e.tasks === "function", "a function that gives the tasks of a split"],
    ["start", e.start, typeof e.start === "function", "a function that begins an episode"],
    ["limits.turns", limits.turns, isCount(limits.turns), "a whole number of 1 or more"],
    ["limits.actionTokens", limits.actionTokens, isCount(limits.actionTokens), "a whole number of 1 or more"],
    [
      "limits.seconds",
      limits.seconds,
      limits.seconds === undefined || isTime(limits.seconds),
      "a number above 0",
    ],
  ];
  for (const [field, value, fits, expected] of needs) {
    if (fits) continue;
    throw new WhetstoneError("config.invalid", {
      where: `${called}: ${field}`,
      got: value === undefined ? "nothing" : typeof value === "function" ? "a function" : shown(value),
      expected,
      fix: `Give the environment its ${field}.`,
    });
  }
  return environment;
}

const isText = (x: unknown): x is string => typeof x === "string" && x.trim() !== "";
const areNames = (x: unknown): boolean =>
  Array.isArray(x) && x.length > 0 && x.every(isText) && new Set(x).size === x.length;
const isCount = (x: unknown): boolean => Number.isSafeInteger(x) && (x as number) >= 1;
const isTime = (x: unknown): boolean => typeof x === "number" && Number.isFinite(x) && x > 0;
const shown = (x: unknown): string => (typeof x === "number" ? String(x) : (JSON.stringify(x) ?? String(x)));
