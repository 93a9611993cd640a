/** Bandits with known expected rewards, for exact gradients: one with two arms, and a contextual one. */
import { type Random, randomStream } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "./environment.ts";

/** Mean reward of each action, which pays 1 with this probability and 0 otherwise. */
export type Means = Readonly<Record<string, number>>;

/** Settings of {@link bandit}. */
export interface BanditOptions {
  /** Mean reward of each arm, in [0, 1]. Default left 0.3, right 0.7. */
  readonly means?: Means;
}

/** Settings of {@link contextualBandit}. */
export interface ContextualBanditOptions {
  /** Mean reward of each arm, in [0, 1], by context. Default: four colours, three doors. */
  readonly means?: Readonly<Record<string, Means>>;
}

const colours: Readonly<Record<string, Means>> = {
  red: { left: 0.8, middle: 0.5, right: 0.2 },
  green: { left: 0.2, middle: 0.8, right: 0.5 },
  blue: { left: 0.5, middle: 0.2, right: 0.8 },
  grey: { left: 0.6, middle: 0.3, right: 0.5 },
};

/** Two arms and one state: the smallest learning problem. */
export function bandit({ means = { left: 0.3, right: 0.7 } }: BanditOptions = {}): Environment {
  return armed("bandit", "pull one of two arms; one pays more often", { pull: means });
}

/** The context word determines which arm has the highest mean reward. */
export function contextualBandit({ means = colours }: ContextualBanditOptions = {}): Environment {
  return armed("contextual-bandit", "open one of three doors; which one pays depends on the colour", means);
}

/** Mean reward of each arm in a task, from `metadata.means`. */
export const meansOf = (task: Task): Means => task.metadata.means as Means;

function bestOf(task: Task): string {
  return Object.entries(meansOf(task)).reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

/** Draws the reward of an arm. Reads own properties only, so that "constructor" is not an arm. */
function payOf(task: Task, arm: string, random: Random): number | undefined {
  const means = meansOf(task);
  if (!Object.hasOwn(means, arm)) return undefined;
  return random.split(arm).next() < means[arm]! ? 1 : 0;
}

const sizes: Readonly<Record<string, number>> = { train: 400, validation: 100, test: 200 };

function armed(name: string, summary: string, contexts: Readonly<Record<string, Means>>): Environment {
  const words = Object.keys(contexts);
  const arms = [...new Set(Object.values(contexts).flatMap((m) => Object.keys(m)))];
  const usage = `choose ${arms.join(" or ")}`;

  function taskAt(split: string, index: number): Task {
    const context = words[index % words.length]!;
    const means = contexts[context]!;
    const stream = randomStream(name).split(split, index);
    const task: Task = {
      id: `${name}/${split}/${index}`,
      prompt: [{ role: "user", content: context }],
      metadata: { context, means },
      seed: stream.seed,
    };
    return { ...task, reference: bestOf(task) };
  }

  function start(task: Task, random: Random): Episode {
    let ended = false;
    return {
      async observe() {
        const legal = Object.keys(meansOf(task));
        return {
          role: "agent",
          observation: { messages: [], stateKey: String(task.metadata.context), legal },
        };
      },
      async act(action) {
        if (ended) return alreadyOver;
        ended = true;
        const arm = action.content.trim();
        const pay = payOf(task, arm, random);
        if (pay === undefined) {
          return {
            rewards: { outcome: 0 },
            text: usage,
            end: { kind: "done", reason: "no such arm", success: false },
          };
        }
        return {
          rewards: { outcome: pay },
          end: { kind: "done", reason: "pulled", success: arm === bestOf(task) },
        };
      },
    };
  }

  return defineEnvironment({
    name,
    summary,
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "validation", "test"],
    limits: { turns: 1, actionTokens: 2 },
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task, random) => start(task, random),
    vocabulary: () => [...words, ...arms, usage],
    expert: bestOf,
    /** The reward is drawn once, when the arm is pulled, so `verify` returns the recorded one. */
    async verify(_task: Task, trajectory: Trajectory) {
      return { outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 };
    },
  });
}
