/** The environment contract: makes an episode for a task; an episode takes actions and returns observations. */

import type { Critique, CritiqueWish } from "../core/critique.ts";
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

/** What one role sees next. `messages` extend its conversation; nothing that it saw before is repeated. */
export interface Observation {
  readonly messages: readonly Message[];
  /**
   * True: `messages` are the whole conversation, in place of the task's prompt and all that was said. Its tokens are made
   * anew, so that what is trained on is cut here, unless they happen to go on from the last action. Where it is said at
   * all, a conversation that the model's codec refuses fails the episode and not the run.
   */
  readonly whole?: boolean;
  /** Shorter than the limit on actions, in tokens. */
  readonly maxTokens?: number;
  /** Texts that end the action. */
  readonly stop?: readonly string[];
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

/** What an action gets after the end: nothing happens any more. */
export const alreadyOver: Step = { end: { kind: "done", reason: "already over", success: false } };

export interface Action {
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly stop: StopReason;
  /** What a token policy read and wrote, for environments that hand it on. */
  readonly sampled?: SampledAction;
}

/** An action as tokens. */
export interface SampledAction {
  readonly tokens: TurnTokens;
  /** The text of each action token by itself; special tokens have none. */
  pieces(): readonly string[];
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
export type Player<Meta extends object = Metadata> = (
  task: Task<Meta>,
  conversation: readonly Message[],
  random: Random,
) => string;

/** A named set of tasks. "train" is practised, "validation" selects checkpoints, every other name is held out. */
export type SplitName = string;

/** @typeParam Meta what the metadata of its tasks is: see {@link defineEnvironment}. */
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
    /** Longest action, in tokens of the policy's own tokenizer. */
    readonly actionTokens: number;
    /** Default 60. A hanging episode costs itself only. */
    readonly seconds?: number;
  };
  /** Deterministic: the same split and count give the same tasks. */
  tasks(split: SplitName): readonly Task<Meta>[];
  /**
   * @param random this episode's own stream, for environments that are stochastic. One that declares `replay` draws from
   *   `task.seed` alone.
   */
  start(task: Task<Meta>, random: Random): Promise<Episode>;
  /** Texts from which a small tokenizer for this environment can be made: every word that can occur. */
  readonly lexicon?: () => readonly string[];
  /** Solves every task. */
  readonly expert?: Player<Meta>;
  /** Plays with systematic gaps: demonstrations for a warm start that leaves something to learn. */
  readonly flawed?: Player<Meta>;
  /** The environment's own verdict on a finished trajectory, as named rewards. Total: never throws on garbage. */
  verify?(task: Task<Meta>, trajectory: Trajectory): Promise<Readonly<Record<string, number>>>;
  /**
   * Probability in [0, 1] that the first of two finished trajectories is preferred; 1 less it with the two swapped. Need
   * not follow from any scores: preferences may run in circles. Total, as `verify` is.
   */
  prefer?(task: Task<Meta>, first: Trajectory, second: Trajectory): Promise<number>;
  /**
   * A critique of a finished trajectory from a template: a true one, or a misleading one where that is wished. The same
   * random stream, the same critique. Total, as `verify` is.
   */
  critique?(task: Task<Meta>, trajectory: Trajectory, wish: CritiqueWish): Promise<Critique>;
  /** Texts with every word of its critiques that the lexicon lacks. A run learns them where its method uses critics. */
  readonly critiqueLexicon?: () => readonly string[];
}

/**
 * Checks the fields of an environment and returns it. What they do is checked by `whetstone validate`.
 *
 * `defineEnvironment<Meta>` names the type of the tasks' metadata, which `tasks`, `start`, `verify` and the scripted players
 * then share without a cast. Meta may be an interface; its values have to be JSON.
 * @throws WhetstoneError `config.invalid` that names the field.
 * @example
 * interface Parcel { readonly weight: number }
 * defineEnvironment<Parcel>({ …, start: async (task) => weigh(task.metadata.weight) });
 */
export function defineEnvironment<E extends Environment>(environment: E): E;
export function defineEnvironment<Meta extends object>(
  environment: Environment<Meta>,
): Environment<Meta> & Environment;
export function defineEnvironment(environment: Environment): Environment {
  // whoever writes JavaScript, or casts, can hand over anything
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
      mend: `Give the environment its ${field}.`,
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
