/** Users with different tastes who choose among the same items: the best item on average suits hardly any of them. */
import { sigmoid } from "../../../common/statistics/logistic.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link tastes}. */
export interface TastesOptions {
  /** Number of training users; as many others are held out. Default 32. */
  readonly users?: number;
  /** Different tastes, 2 or more, spread evenly; users have one of them each, in turn. Default 2. */
  readonly kinds?: number;
  /** Things to choose from, `i0`, `i1`… Default 10. */
  readonly items?: number;
  /** Comparisons that are known of each user. Default 8. */
  readonly votes?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** An item as two traits, each in [−1, 1]. All users like more of the second; for the first, tastes differ. */
export type Item = readonly [contested: number, agreed: number];

/** One thing that a user preferred to another. */
export type ItemVote = readonly [better: Item, worse: Item];

/** Utility of an item for a taste in [−1, 1]. */
export const likingOf = (taste: number, [contested, agreed]: Item): number =>
  3 * taste * contested + 2 * agreed;

/** The k-th of n evenly spread tastes, −1 to 1. */
export const tasteOf = (kind: number, kinds: number): number => (2 * kind) / (kinds - 1) - 1;

export const drawItem = (random: Random): Item => [2 * random.next() - 1, 2 * random.next() - 1];

/** The preference of a user with this taste between two items, by the Bradley–Terry model. */
export const vote = (taste: number, a: Item, b: Item, random: Random): ItemVote =>
  random.next() < sigmoid(likingOf(taste, a) - likingOf(taste, b)) ? [a, b] : [b, a];

/** A user's taste, which only a simulation knows. */
export const hiddenTaste = (task: Task): number => Number(task.metadata.taste);

/** Traits of the things by their words. */
export const itemsOf = (task: Task): Readonly<Record<string, Item>> =>
  task.metadata.items as unknown as Readonly<Record<string, Item>>;

/**
 * A user `u3` asks for a recommendation; the reply names one of the items. The reward is the user's utility, scaled to 0
 * for the worst item and 1 for the best. The task's metadata hold the traits of all items (`items`) and the user's
 * earlier comparisons of other items (`votes`, better first).
 */
export function tastes(options: TastesOptions = {}): Environment {
  const { users = 32, kinds = 2, items = 10, votes = 8, seed = 1 } = options;
  const sizes: Readonly<Record<string, number>> = { train: users, test: users };
  const words = Array.from({ length: items }, (_, i) => `i${i}`);
  const root = randomStream(seed).split("tastes");
  const things = Object.fromEntries(words.map((word) => [word, drawItem(root.split(word))]));
  const taskAt = (split: string, index: number): Task => {
    const number = split === "train" ? index : users + index;
    const random = root.split("user", number);
    const taste = tasteOf(number % kinds, kinds);
    const said = Array.from({ length: votes }, () => vote(taste, drawItem(random), drawItem(random), random));
    return {
      id: `tastes/${split}/${index}`,
      prompt: [{ role: "user", content: `u${number}` }],
      metadata: { index, taste, items: things, votes: said },
      seed: random.seed,
    };
  };
  const worth = (task: Task, word: string): number => {
    const known = itemsOf(task);
    const likings = Object.values(known).map((item) => likingOf(hiddenTaste(task), item));
    const [least, most] = [Math.min(...likings), Math.max(...likings)];
    const item = Object.hasOwn(known, word) ? known[word] : undefined;
    return item === undefined ? 0 : (likingOf(hiddenTaste(task), item) - least) / (most - least);
  };
  const said = (t: Trajectory): string => t.turns.at(-1)?.action.content.trim() ?? "";
  const start = (task: Task): Episode => {
    let ended = false;
    return {
      observe: async () => ({
        role: "agent",
        observation: { messages: [], stateKey: task.id, legal: words },
      }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        ended = true;
        const outcome = worth(task, content.trim());
        const success = outcome === 1;
        return {
          rewards: { outcome },
          end: { kind: "done", reason: success ? "the best" : "taken", success },
        };
      },
    };
  };
  return defineEnvironment({
    name: "tastes",
    summary: "choose a thing for users of different tastes, of whom a few comparisons are known",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => [...words, ...Array.from({ length: 2 * users }, (_, u) => `u${u}`)],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task) => start(task),
    expert: (task) => words.find((word) => worth(task, word) === 1)!,
    flawed: (task) =>
      words.reduce((best, word) =>
        likingOf(0, itemsOf(task)[word]!) > likingOf(0, itemsOf(task)[best]!) ? word : best,
      ),
    verify: async (task, t) => ({ outcome: worth(task, said(t)) }),
    prefer: async (task, first, second) => {
      const [a, b] = [itemsOf(task)[said(first)], itemsOf(task)[said(second)]];
      if (a && b) return sigmoid(likingOf(hiddenTaste(task), a) - likingOf(hiddenTaste(task), b));
      return a === b ? 0.5 : a ? 1 : 0;
    },
  });
}
