/** Preference games: replies are compared in pairs, win rates are known exactly, and preferences may be intransitive. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import { defineEnvironment, type Environment, type Episode } from "../env/environment.ts";

/** P[i][j]: probability that reply i is preferred to reply j; P[j][i] = 1 − P[i][j], and 1/2 on the diagonal. */
export type Preferences = readonly (readonly number[])[];

/** Settings of {@link preferenceGame}. */
export interface PreferenceGameOptions {
  /** Number of training questions, and of held-out questions. Default 4. */
  readonly questions?: number;
  /** Replies to choose from. Default 5. */
  readonly replies?: number;
  /**
   * "cycle": in a random round each reply beats the next half of the others, as scissors beat paper, with a probability
   * from `strength`. "logistic": the logit of each pair is drawn by itself, normal with deviation `scale`.
   * "bradleyTerry": logits are differences of qualities, normal with deviation `scale`. Default "cycle".
   */
  readonly kind?: "cycle" | "logistic" | "bradleyTerry";
  /** Range of a cycle's winning probabilities. Default 0.6 to 0.95. */
  readonly strength?: readonly [low: number, high: number];
  /** Number of replies at the end of the list that lose to all others with the cycle's highest strength. Default 0. */
  readonly losers?: number;
  /** Default 2. */
  readonly scale?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The preference matrix of a task. */
export const preferencesOf = (task: Task): Preferences => task.metadata.prefers as unknown as Preferences;

/** The reply words of a game with `count` replies: `r0`, `r1`… */
export const repliesOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `r${i}`);

/** A reply's number by its word; undefined for any other text. */
const numberOf = (content: string, prefers: Preferences): number | undefined => {
  const i = repliesOf(prefers.length).indexOf(content.trim());
  return i < 0 ? undefined : i;
};

/** Borda score: mean win rate of each reply against all others, in [0, 1]. */
function scores(prefers: Preferences): number[] {
  return prefers.map((row) => (row.reduce((a, b) => a + b, 0) - 0.5) / Math.max(1, row.length - 1));
}

/**
 * Every question `q7` is a separate game between the same reply words. The reward of a reply is its win rate against all
 * others (its Borda score); the highest counts as success. `prefer` compares two replies; an invalid text loses to any reply.
 */
export function preferenceGame(options: PreferenceGameOptions = {}): Environment {
  const { questions = 4, replies = 5, seed = 1 } = options;
  const words = repliesOf(replies);

  function taskAt(split: string, index: number): Task {
    const number = split === "train" ? index : questions + index;
    const stream = randomStream(seed).split("preferences", number);
    return {
      id: `preference-game/${split}/${index}`,
      prompt: [{ role: "user", content: `q${number}` }],
      metadata: { prefers: matrixOf(options, replies, stream), index: number },
      seed: stream.seed,
    };
  }
  const best = (task: Task): number => {
    const all = scores(preferencesOf(task));
    return all.indexOf(Math.max(...all));
  };
  const payOf = (task: Task, content: string): number => {
    const prefers = preferencesOf(task);
    const i = numberOf(content, prefers);
    return i === undefined ? 0 : scores(prefers)[i]!;
  };
  const last = (t: Trajectory): string => t.turns.at(-1)?.action.content ?? "";
  const start = (task: Task): Episode => ({
    observe: async () => ({
      role: "agent",
      observation: { messages: [], stateKey: task.id, legal: words },
    }),
    act: async ({ content }) => ({
      rewards: { outcome: payOf(task, content) },
      end: {
        kind: "done",
        reason: "replied",
        success: numberOf(content, preferencesOf(task)) === best(task),
      },
    }),
  });

  return defineEnvironment({
    name: "preference-game",
    summary: "reply with one word; replies are compared in pairs, and preferences may run in circles",
    abilities: new Set(["expert", "legal", "replay", "stateKey"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => [...words, "improve", ...Array.from({ length: 2 * questions }, (_, i) => `q${i}`)],
    tasks: (split) =>
      split === "train" || split === "test"
        ? Array.from({ length: questions }, (_, i) => taskAt(split, i))
        : [],
    expert: (task) => words[best(task)]!,
    start: async (task) => start(task),
    verify: async (task, t) => ({ outcome: payOf(task, last(t)) }),
    prefer: async (task, first, second) => {
      const prefers = preferencesOf(task);
      const [i, j] = [numberOf(last(first), prefers), numberOf(last(second), prefers)];
      if (i !== undefined && j !== undefined) return prefers[i]![j]!;
      return i === j ? 0.5 : i === undefined ? 0 : 1;
    },
  });
}

function matrixOf(options: PreferenceGameOptions, n: number, random: Random): number[][] {
  const { kind = "cycle", strength: [low, high] = [0.6, 0.95], losers = 0, scale = 2 } = options;
  const out = Array.from({ length: n }, () => new Array<number>(n).fill(0.5));
  const say = (i: number, j: number, p: number): void => {
    out[i]![j] = p;
    out[j]![i] = 1 - p;
  };
  const round = n - losers;
  const seat = shuffled([...new Array(round).keys()], random.split("seats"));
  const quality = Array.from({ length: n }, () => scale * random.normal());
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const p = low + (high - low) * random.next();
      if (i < round && j >= round) say(i, j, high);
      else if (j >= round) continue;
      else if (kind === "logistic") say(i, j, 1 / (1 + Math.exp(-scale * random.normal())));
      else if (kind === "bradleyTerry") say(i, j, 1 / (1 + Math.exp(quality[j]! - quality[i]!)));
      else {
        // in an even round, the reply exactly opposite is in neither half: a draw
        const ahead = (seat[j]! - seat[i]! + round) % round;
        if (2 * ahead !== round) say(i, j, 2 * ahead < round ? p : 1 - p);
      }
    }
  }
  return out;
}
