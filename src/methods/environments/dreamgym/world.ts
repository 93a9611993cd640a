/** An experience model: an environment simulated from stored transitions instead of the real one. */

import type { Random } from "../../../core/random.ts";
import type { Ending, Message, Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode, type Step } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";
import { isImagined } from "./imagined.ts";

/** One transition in the real environment. States are texts and must be complete. */
export interface Transition {
  readonly state: string;
  readonly action: string;
  /** The next state; absent where the episode ended. */
  readonly next?: string;
  readonly rewards: Readonly<Record<string, number>>;
  readonly text?: string;
  readonly end?: Ending;
}

/** Query to an experience model: the result of an action. */
export interface Asked {
  readonly task: Task;
  /** States and actions before, the oldest first. */
  readonly history: readonly { readonly state: string; readonly action: string }[];
  readonly state: string;
  readonly action: string;
  /** The most similar stored transitions, the nearest first. */
  readonly examples: readonly (Transition & { readonly similarity: number })[];
}

/** The predicted result; without a next state the state is unchanged. */
export type Imagined = Omit<Transition, "state" | "action">;
export type ExperienceModel = (asked: Asked, random: Random) => Imagined;

/** Settings of {@link imagined}. */
export interface ImaginedOptions {
  /** Real experience. */
  readonly transitions: readonly Transition[];
  /** The experience model. Default: {@link byAnalogy}. */
  readonly model?: ExperienceModel;
  /** Number of retrieved examples. Default 4. */
  readonly examples?: number;
  /** Similarity of two states, in [0, 1], 1 for equal ones. Default: {@link samePlaces}. */
  readonly similarity?: (a: string, b: string) => number;
}

/**
 * The same environment, with an experience model of it: tasks marked as imagined (`imaginedTask` of core) are played in
 * the model, all others in the real environment, so that one policy can switch between them. The state is the text of the
 * last message. The model gets stored transitions with the same action, the most similar states first, ties in storage
 * order; the store holds only real transitions. A next state with a word that no stored state has is invalid: the state
 * is unchanged.
 * Paper: "Scaling Agent Learning via Experience Synthesis".
 */
export function imagined(environment: Environment, options: ImaginedOptions): Environment {
  const { transitions, model = byAnalogy, examples = 4, similarity = samePlaces } = options;
  const distinct = new Map(transitions.map((t) => [JSON.stringify(t), t])).values();
  const byAction = Map.groupBy(distinct, ({ action }) => action);
  const words = new Set(transitions.flatMap(({ state, next = "" }) => [...wordsOf(state), ...wordsOf(next)]));
  const near = new Map<string, Asked["examples"]>();
  const retrieve = (state: string, action: string): Asked["examples"] => {
    const key = JSON.stringify([state, action]);
    const known = near.get(key);
    if (known) return known;
    const found = (byAction.get(action) ?? [])
      .map((t) => ({ ...t, similarity: similarity(state, t.state) }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, examples);
    near.set(key, found);
    return found;
  };
  const start = (task: Task, random: Random): Episode =>
    machine<Dream>(
      {
        see: ({ state, history }) => ({
          messages: history.length === 0 ? [] : [{ role: "user", content: state }],
          stateKey: `imagined ${state}`,
        }),
        act: ({ state, history }, action, stream): Step & { readonly next: Dream } => {
          const asked = { task, history, state, action, examples: retrieve(state, action) };
          const { next = state, rewards, text, end } = model(asked, stream);
          const sayable = wordsOf(next).every((word) => words.has(word));
          return {
            next: { state: sayable ? next : state, history: [...history, { state, action }] },
            rewards,
            ...(text !== undefined && { text }),
            ...(end && { end }),
          };
        },
      },
      { state: lastHeard(task.prompt), history: [] },
      random,
    );
  return defineEnvironment({
    ...environment,
    name: `imagined-${environment.name}`,
    summary: `${environment.summary}; or played from memory`,
    start: async (task, random) => (isImagined(task) ? start(task, random) : environment.start(task, random)),
  });
}

interface Dream {
  readonly state: string;
  readonly history: Asked["history"];
}

/** The last message that is not the agent's. */
const lastHeard = (messages: readonly Message[]): string =>
  messages.findLast(({ role }) => role !== "assistant")?.content ?? "";

/** All transitions of these trajectories, for an experience model. Failed episodes are left out. */
export function transitionsOf(trajectories: readonly Trajectory[]): Transition[] {
  return trajectories
    .filter((t) => t.end.kind !== "failed")
    .flatMap((t) =>
      t.turns.map(({ prompt, action, rewards, text }, k): Transition => {
        const after = t.turns[k + 1];
        // a limit belongs to the episode, not to the environment's dynamics
        const end = after || t.end.kind === "truncated" ? undefined : t.end;
        return {
          state: lastHeard(prompt),
          action: action.content.trim(),
          rewards,
          ...(after && { next: lastHeard(after.prompt) }),
          ...(text !== undefined && { text }),
          ...(end && { end }),
        };
      }),
    );
}

/**
 * A non-parametric model. A stored state and action repeats its stored result. Otherwise each example's change is applied
 * to the current state ({@link carriedOver}), and the next state with the largest total similarity is taken; ties go to
 * the nearest example's. It then gives no reward and does not end the episode, so that no success is invented. Without an
 * example, the state is unchanged.
 */
export function byAnalogy({ state, examples }: Asked): Imagined {
  const [nearest] = examples;
  if (nearest?.similarity === 1) return nearest;
  const votes = new Map<string, number>();
  for (const { state: from, next: to, similarity } of examples) {
    const next = to === undefined ? state : carriedOver(from, to, state);
    votes.set(next, (votes.get(next) ?? 0) + similarity);
  }
  const most = Math.max(...votes.values());
  const next = [...votes].find(([, n]) => n === most)?.[0];
  return { rewards: {}, ...(next !== undefined && { next }) };
}

/**
 * Applies the change from one text to another to a third, word by word: numbers change by the same difference, other
 * changed words are replaced; unchanged words are kept. If the lengths differ, the result is the second text.
 */
export function carriedOver(from: string, to: string, onto: string): string {
  const [a, b, words] = [from, to, onto].map((text) => text.split(" "));
  if (a!.length !== words!.length || b!.length !== words!.length) return to;
  return words!
    .map((word, i) => {
      if (a![i] === b![i]) return word;
      const numbers = [word, a![i], b![i]].map(asNumber);
      if (numbers.some(Number.isNaN)) return b![i]!;
      return String(numbers[0]! + numbers[2]! - numbers[1]!);
    })
    .join(" ");
}

/**
 * Mean over the words of two texts, position by position: 1 for equal words, 1/(1 + difference) for numbers, else 0. Texts
 * of different lengths have similarity 0.
 */
export function samePlaces(a: string, b: string): number {
  const [x, y] = [a.split(" "), b.split(" ")];
  if (x.length !== y.length) return 0;
  let sum = 0;
  x.forEach((word, i) => {
    const apart = Math.abs(asNumber(word) - asNumber(y[i]!));
    sum += word === y[i] ? 1 : Number.isNaN(apart) ? 0 : 1 / (1 + apart);
  });
  return sum / x.length;
}

const wordsOf = (text: string): string[] => text.split(/\s+/);

const asNumber = (word: string | undefined): number =>
  word && /^-?\d+$/.test(word) ? Number(word) : Number.NaN;
