/** A hidden number to guess in one reply: small numbers are likelier, and only a teacher gives further information. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";
import type { Teacher } from "../../../worlds/tryAgain.ts";

/** Settings of {@link hiddenNumber}. */
export interface HiddenNumberOptions {
  /** Largest number; the smallest is 1. Default 8. */
  readonly numbers?: number;
  /** Tasks of each split. Default 200. */
  readonly tasks?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Number n is hidden with a probability in proportion to 1/n. */
function drawn(numbers: number, random: Random): number {
  const all = Array.from({ length: numbers }, (_, i) => i + 1);
  let left = random.next() * all.reduce((sum, n) => sum + 1 / n, 0);
  return all.find((n) => (left -= 1 / n) < 0) ?? numbers;
}

/**
 * Every task has the same prompt, "guess", and its own hidden number; the right reply has reward 1. A single reply
 * succeeds at most with the probability of number 1. For use with a teacher:
 * `tryAgain(hiddenNumber(), { words: bounds, vocabulary: boundsVocabulary })`.
 */
export function hiddenNumber(options: HiddenNumberOptions = {}): Environment {
  const { numbers = 8, tasks = 200, seed = 1 } = options;
  const splits = ["train", "test"] as const;
  const taskAt = (split: string, index: number): Task => {
    const random = randomStream(seed).split("hidden number", split, index);
    return {
      id: `hidden-number/${split}/${index}`,
      prompt: [{ role: "user", content: "guess" }],
      reference: `${drawn(numbers, random)}`,
      metadata: {},
      seed: random.seed,
    };
  };
  const outcomeOf = (task: Task, reply: string): number => (reply.trim() === task.reference ? 1 : 0);
  const start = (task: Task): Episode => {
    let ended = false;
    return {
      observe: async () => ({ role: "agent", observation: { messages: [], stateKey: task.id } }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        ended = true;
        const outcome = outcomeOf(task, content);
        const success = outcome === 1;
        return { rewards: { outcome }, end: { kind: "done", reason: success ? "right" : "wrong", success } };
      },
    };
  };
  return defineEnvironment({
    name: "hidden-number",
    summary: "guess a hidden number; small ones are likelier",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => ["guess", ...Array.from({ length: numbers }, (_, i) => `${i + 1}`)],
    tasks: (split) =>
      splits.some((name) => name === split) ? Array.from({ length: tasks }, (_, i) => taskAt(split, i)) : [],
    start: async (task) => start(task),
    expert: (task) => task.reference!,
    async verify(task, { turns }) {
      return { outcome: outcomeOf(task, turns.at(-1)?.action.content ?? "") };
    },
  });
}

/**
 * A teacher that summarises the bounds shown by the replies so far, "over 2 under 5", and never names the number. Invalid
 * or uninformative replies do not change the bounds; before any bound it replies "no number".
 */
export const bounds: Teacher = ({ task, replies }) => {
  const hidden = Number(task.reference);
  const numbers = replies.filter((reply) => /^\d+$/.test(reply)).map(Number);
  const guesses = numbers.filter((guess) => guess !== hidden);
  const below = guesses.filter((guess) => guess < hidden);
  const above = guesses.filter((guess) => guess > hidden);
  const said = [
    ...(below.length > 0 ? [`over ${Math.max(...below)}`] : []),
    ...(above.length > 0 ? [`under ${Math.min(...above)}`] : []),
  ];
  return said.length > 0 ? said.join(" ") : "no number";
};

/** Every word of {@link bounds} but the numbers. */
export const boundsVocabulary = (): readonly string[] => ["over under no number"];
