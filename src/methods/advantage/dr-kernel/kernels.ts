/** Kernels to make fast: a library call is always right and never faster; one own variant is both right and faster. */
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link kernels}. */
export interface KernelsOptions {
  /** Number of training operations; as many others are held out. Default 8. */
  readonly operations?: number;
  /** Number of own variants of a kernel. Default 8. */
  readonly variants?: number;
  /** Turns of an episode. Default 3. */
  readonly turns?: number;
  /** Probability that an episode is truncated after a turn. Default 0. */
  readonly stops?: number;
  /** Deviation of ln(measured speed-up). Default 0.2. */
  readonly noise?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Properties of one answer. */
interface Kind {
  /** What is said about it. */
  readonly word: "wrong" | "slow" | "fast";
  /** True speed-up over the library. */
  readonly speed: number;
  /** Share of the runtime that is spent in the agent's own code. */
  readonly coverage: number;
}
const library: Kind = { word: "slow", speed: 1, coverage: 0 };
const wrong: Kind = { word: "wrong", speed: 0, coverage: 0 };
const partial: Kind = { word: "slow", speed: 1.1, coverage: 0.2 };
const full: Kind = { word: "fast", speed: 1.6, coverage: 0.8 };

/** The variant that makes an operation fast. */
export const fastOf = (task: Task): string => task.metadata.fast as string;

/**
 * Each turn answers with `library` or a variant, `v3`. Of an operation's variants one is fast, one right but partly the
 * library's, the others are wrong. The reward of every turn is
 *
 *     outcome = ½ correct + ½ min(measured speed-up, 3)          nothing for a wrong one
 *
 * and a profiler measures `coverage` of right ones. The agent sees the operation and the last answer's result. Success:
 * the last answer is truly 1.2 times as fast as the library.
 */
export function kernels(options: KernelsOptions = {}): Environment {
  const { operations = 8, variants = 8, turns = 3, stops = 0, noise = 0.2, seed = 1 } = options;
  const names = Array.from({ length: variants }, (_, i) => `v${i}`);
  const words = ["library", ...names];
  const splits = ["train", "test"] as const;

  function taskAt(split: string, index: number): Task {
    const number = split === "train" ? index : operations + index;
    const random = randomStream(seed).split("operation", number);
    const [fast, slow] = shuffled(names, random);
    return {
      id: `kernels/${split}/${index}`,
      prompt: [{ role: "user", content: `op${number} new` }],
      metadata: { operation: `op${number}`, fast: fast!, slow: slow ?? fast! },
      seed: random.seed,
    };
  }

  function kindOf(task: Task, said: string): Kind {
    if (said === "library") return library;
    if (said === task.metadata.fast) return full;
    return said === task.metadata.slow ? partial : wrong;
  }

  function start(task: Task, random: Random): Episode {
    let turn = 0;
    let heard = "new";
    let ended = false;
    const view = (): string => `${task.metadata.operation} ${heard}`;
    return {
      async observe() {
        const messages = turn === 0 ? [] : [{ role: "user" as const, content: view() }];
        return { role: "agent", observation: { messages, stateKey: view(), legal: words } };
      },
      async act(action): Promise<Step> {
        if (ended) return alreadyOver;
        const own = random.split("turn", turn);
        const kind = kindOf(task, action.content.trim());
        const measured = kind.speed * Math.exp(noise * own.split("clock").normal());
        const outcome = kind === wrong ? 0 : 0.5 + 0.5 * Math.min(3, measured);
        const rewards = kind === wrong ? { outcome } : { outcome, coverage: kind.coverage };
        turn++;
        heard = kind.word;
        ended = turn >= turns || own.split("room").next() < stops;
        const reason = turn >= turns ? "last turn" : "out of room";
        return ended ? { rewards, end: { kind: "done", reason, success: kind.speed >= 1.2 } } : { rewards };
      },
    };
  }

  return defineEnvironment({
    name: "kernels",
    summary: "write an operation faster than the library does; a library call is right and useless",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    tasks: (split) =>
      splits.some((s) => s === split) ? Array.from({ length: operations }, (_, i) => taskAt(split, i)) : [],
    start: async (task, random) => start(task, random),
    vocabulary: () => [
      ...words,
      "new wrong slow fast",
      ...Array.from({ length: 2 * operations }, (_, i) => `op${i}`),
    ],
    expert: fastOf,
    /** A speed-up is measured once, during the episode: `verify` repeats the last reward. */
    async verify(_task: Task, trajectory: Trajectory) {
      return { outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 };
    },
  });
}
