/** Problems of a few kinds, each solved well by one strategy and badly by the others. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { alreadyOver, defineEnvironment } from "../../../env/environment.ts";

/** Settings of {@link strategies}. */
export interface StrategiesOptions {
  /** Kinds of problems, and as many strategies. Default 3. */
  readonly kinds?: number;
  /** Problems per split. Default 60. */
  readonly problems?: number;
  /** Probability of a solution with the strategy of the kind. Default 0.9. */
  readonly matching?: number;
  /** Probability with any other one. Default 0.2. */
  readonly other?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The strategy that suits a task's kind. */
export const matchOf = (task: Task): string => String(task.metadata.match);

/**
 * A problem shows its kind, `k2`, and is answered with a strategy, `s1`; whether the solution is right is drawn, once for each
 * strategy of an episode, so that the same strategy fails again where it failed. Right pays 1.
 */
export function strategies(options: StrategiesOptions = {}): Environment {
  const { kinds = 3, problems = 60, matching = 0.9, other = 0.2, seed = 1 } = options;
  const words = Array.from({ length: kinds }, (_, i) => `s${i}`);
  const splits = ["train", "test"] as const;
  const shift = randomStream(seed).split("match").below(kinds);
  const taskAt = (split: string, index: number): Task => {
    const kind = index % kinds;
    return {
      id: `strategies/${split}/${index}`,
      prompt: [{ role: "user", content: `k${kind}` }],
      metadata: { match: words[(kind + shift) % kinds]! },
      seed: randomStream(seed).split("problem", split, index).seed,
    };
  };
  return defineEnvironment({
    name: "strategies",
    summary: "answer a problem with a strategy; each kind of problem has one that suits it",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => [...words, ...words.map((_, kind) => `k${kind}`)],
    tasks: (split) =>
      splits.some((name) => name === split)
        ? Array.from({ length: problems }, (_, i) => taskAt(split, i))
        : [],
    expert: matchOf,
    start: async (task, random) => {
      let ended = false;
      return {
        observe: async () => ({
          role: "agent",
          observation: { messages: [], stateKey: task.prompt[0]!.content, legal: words },
        }),
        act: async ({ content }) => {
          if (ended) return alreadyOver;
          ended = true;
          const said = content.trim();
          const chance = said === matchOf(task) ? matching : words.includes(said) ? other : 0;
          const success = random.split("luck", said).next() < chance;
          const reason = success ? "right" : "wrong";
          return { rewards: { outcome: Number(success) }, end: { kind: "done", reason, success } };
        },
      };
    },
    verify: async (_task, { turns }) => ({ outcome: turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
