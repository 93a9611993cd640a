/** Selling one thing to a buyer who may walk away. */
import { randomStream } from "../../../core/random.ts";
import { succeeded, type Task, type Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** What the thing costs the seller, and the highest price. */
export const cost = 8;
export const highest = 20;

/** Settings of {@link haggling}. */
export interface HagglingOptions {
  /** Exchanges of a game, at most. Default 10. */
  readonly exchanges?: number;
  /** Probability that the buyer walks away after an offer that was too high. Default 0.15. */
  readonly leaving?: number;
  /** Buyers per split. Default 40. */
  readonly buyers?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** A critic's suggestions: after a deal, that the seller could have asked for more; after a breakdown, that it asked too much. */
export const suggestions = { deal: "hold longer", breakdown: "yield sooner" } as const;

/** The most that a buyer pays: hidden from seller and critic. */
export const limitOf = (task: Task): number => Number(task.metadata.limit);

/** Price of a deal; undefined without one. */
export function priceOf(t: Trajectory): number | undefined {
  const said = /^p(\d+)$/.exec(t.turns.at(-1)?.action.content.trim() ?? "")?.[1];
  return succeeded(t) && said !== undefined ? Number(said) : undefined;
}

/** What a price is worth to the seller, in [0, 1]: (price − cost) / (highest − cost). */
export const utilityOf = (price: number): number => (price - cost) / (highest - cost);

/**
 * The seller names a price, `p16`, in each exchange; the buyer takes any that is at most its own limit, uniform from 8 to 20, and after a
 * higher one may walk away. A deal pays the seller its utility, in [0, 1], and is the success; a breakdown pays 0. The
 * observation names the exchange alone. A reply that is no price breaks the game off.
 *
 * A critique sees how the game ended, not the buyer's limit: one of {@link suggestions}; a misleading one is the other. The expert
 * knows the limit.
 */
export function haggling(options: HagglingOptions = {}): Environment {
  const { exchanges = 10, leaving = 0.15, buyers = 40, seed = 1 } = options;
  const prices = Array.from({ length: highest - cost + 1 }, (_, i) => `p${cost + i}`);
  const splits = ["train", "test"] as const;
  const taskAt = (split: string, index: number): Task => {
    const random = randomStream(seed).split("buyer", split, index);
    return {
      id: `haggling/${split}/${index}`,
      prompt: [{ role: "user", content: "exchange 0" }],
      metadata: { limit: cost + random.below(highest - cost + 1) },
      seed: random.seed,
    };
  };
  return defineEnvironment({
    name: "haggling",
    summary: "sell one thing: ask for much and the buyer may walk away, for little and it is gone cheaply",
    abilities: new Set(["expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: exchanges, actionTokens: 1 },
    vocabulary: () => ["exchange", ...prices, ...Array.from({ length: exchanges }, (_, k) => `${k}`)],
    critiqueVocabulary: () => Object.values(suggestions),
    tasks: (split) =>
      splits.some((name) => name === split) ? Array.from({ length: buyers }, (_, i) => taskAt(split, i)) : [],
    expert: (task) => `p${limitOf(task)}`,
    start: async (task, random) =>
      machine<number>(
        {
          see: (k) => ({
            messages: k === 0 ? [] : [{ role: "user", content: `exchange ${k}` }],
            legal: prices,
          }),
          act: (k, action, luck) => {
            const price = prices.includes(action) ? Number(action.slice(1)) : undefined;
            if (price !== undefined && price <= limitOf(task)) {
              const end = { kind: "done", reason: "deal", success: true } as const;
              return { next: k + 1, rewards: { outcome: utilityOf(price) }, end };
            }
            const leaves = price === undefined || luck.next() < leaving || k + 1 >= exchanges;
            if (!leaves) return { next: k + 1 };
            const end = { kind: "done", reason: "breakdown", success: false } as const;
            return { next: k + 1, rewards: { outcome: 0 }, end };
          },
        },
        0,
        random,
      ),
    verify: async (_task, { turns }) => ({ outcome: turns.at(-1)?.rewards.outcome ?? 0 }),
    async critique(_task, trajectory, { right }) {
      const deal = succeeded(trajectory);
      return {
        text: deal === right ? suggestions.deal : suggestions.breakdown,
        outcome: deal ? "inefficient" : "failure",
      };
    },
  });
}
