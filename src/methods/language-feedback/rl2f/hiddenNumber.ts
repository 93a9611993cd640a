/** A hidden number to be guessed at once: small ones are likelier, and without a teacher there is nothing to go by. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";
import type { Teacher } from "../../../worlds/tryAgain.ts";

/** Settings of {@link hiddenNumber}. */
export interface HiddenNumberOptions {
  /** The numbers are 1 to so many. Default 8. */
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
 * Every task is asked in the same words, "guess", and hides a number of its own; the right one pays 1. What one reply
 * can come to is the chance of a 1. Made for a teacher: `tryAgain(hiddenNumber(), { words: bounds, lexicon: boundsLexicon })`.
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
  const start = (task: Task, over = false): Episode => {
    let ended = over;
    return {
      observe: async () => ({ role: "agent", observation: { messages: [], stateKey: task.id } }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        ended = true;
        const outcome = outcomeOf(task, content);
        const success = outcome === 1;
        return { rewards: { outcome }, end: { kind: "done", reason: success ? "right" : "wrong", success } };
      },
      fork: async () => start(task, ended),
    };
  };
  return defineEnvironment({
    name: "hidden-number",
    summary: "guess a hidden number; small ones are likelier",
    abilities: new Set(["fork", "replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: 1, actionTokens: 1 },
    lexicon: () => ["guess", ...Array.from({ length: numbers }, (_, i) => `${i + 1}`)],
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
 * A teacher of numbers that sums up what the replies so far have shown, "over 2 under 5", and never says the number. What
 * was no number, or is told already, changes nothing; before any bound there is "no number".
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
export const boundsLexicon = (): readonly string[] => ["over under no number"];
