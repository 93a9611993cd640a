/** An experience model: an environment in which tasks are played from memory instead of in the real one. */

import type { Random } from "../../../core/random.ts";
import type { Ending, Message, Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode, type Step } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";
import { isImagined } from "./imagined.ts";

/** What an action led to, once, in the real environment. States are texts that say all that matters. */
export interface Transition {
  readonly state: string;
  readonly action: string;
  /** The next state; absent where the episode ended. */
  readonly next?: string;
  readonly rewards: Readonly<Record<string, number>>;
  readonly text?: string;
  readonly end?: Ending;
}

/** What an experience model is asked: what comes of an action. */
export interface Asked {
  readonly task: Task;
  /** States and actions before, the oldest first. */
  readonly history: readonly { readonly state: string; readonly action: string }[];
  readonly state: string;
  readonly action: string;
  /** The most similar stored transitions, the nearest first. */
  readonly examples: readonly (Transition & { readonly similarity: number })[];
}

/** What it says comes of it; without a next state the state stays as it is. */
export type Imagined = Omit<Transition, "state" | "action">;
export type ExperienceModel = (asked: Asked, random: Random) => Imagined;

/** Settings of {@link imagined}. */
export interface ImaginedOptions {
  /** Real experience. */
  readonly transitions: readonly Transition[];
  /** What plays the environment. Default: {@link byAnalogy}. */
  readonly model?: ExperienceModel;
  /** Examples given to it. Default 4. */
  readonly examples?: number;
  /** How alike two states are, in [0, 1], 1 for the same. Default: {@link samePlaces}. */
  readonly similarity?: (a: string, b: string) => number;
}

/**
 * The same environment, and an experience model of it: tasks marked as imagined (`imaginedTask` of core) are played in
 * the model, all others in the real one, so that one policy can go from the one to the other. The state is what the last
 * message says. What is retrieved for the model are stored transitions with the same action, those from the most similar
 * states first, equals in the order stored; the store holds what really happened and nothing that was imagined. A next state with
 * a word that no stored state has is nowhere: the state stays as it is.
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

/** What was said last that the agent did not say. */
const lastHeard = (messages: readonly Message[]): string =>
  messages.findLast(({ role }) => role !== "assistant")?.content ?? "";

/** Every step of these trajectories, for an experience model. Episodes that failed teach nothing. */
export function transitionsOf(trajectories: readonly Trajectory[]): Transition[] {
  return trajectories
    .filter((t) => t.end.kind !== "failed")
    .flatMap((t) =>
      t.turns.map(({ prompt, action, rewards, text }, k): Transition => {
        const after = t.turns[k + 1];
        // a limit is of the episode, not of the world
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
 * A model without weights. What was seen before happens again as it did. Elsewhere the examples are precedents: what
 * changed there would change here ({@link carriedOver}), and the next state that most of them lead to is taken, each
 * counted by its similarity; of equals the one that the nearest leads to. But it pays nothing and ends nothing, so that no
 * success is made up. Without an example, nothing happens.
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
 * The change from one text to another, made to a third, word by word: numbers move by as much, other words become what
 * they became; words that stayed stay as they are. Texts of other lengths become the second one.
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
 * Mean over the words of two texts, place by place: 1 for the same word, 1/(1 + difference) for numbers, else 0. Texts of
 * different lengths are alike in nothing.
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
