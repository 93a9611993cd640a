/** Several tries at one task: the first right reply ends the episode, and feedback on a wrong one is the next observation. */
import { randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Player,
  type Step,
} from "./environment.ts";

/** Rewards of a reply, and the feedback on it. */
export interface Tried {
  /** `outcome` is 1 where the reply is right; other rewards are partial. */
  readonly rewards: Readonly<Record<string, number>> & { readonly outcome: 0 | 1 };
  readonly text: string;
}

export interface TriesOptions {
  readonly task: Task;
  /** Largest number of replies per episode. */
  readonly turns: number;
  /** Whether partial rewards are given too, every turn; `outcome` is given at the end. Default false. */
  readonly partial?: boolean;
  /** Must not throw, also for texts that are no answer. */
  readonly grade: (task: Task, reply: string) => Tried | Promise<Tried>;
}

/**
 * An episode of tries. Feedback on a reply is the next observation, or the step's text after the last reply.
 */
export function tries(options: TriesOptions): Episode {
  const { task, turns, grade, partial = false } = options;
  let now = { made: 0, over: false, said: "" };
  return {
    observe: async () => ({
      role: "agent",
      observation: {
        messages: now.made === 0 ? [] : [{ role: "user", content: now.said }],
        stateKey: `${task.id} ${now.made} ${now.said}`,
      },
    }),
    async act({ content }): Promise<Step> {
      if (now.over) return alreadyOver;
      const { rewards, text } = await grade(task, content.trim());
      const success = rewards.outcome === 1;
      const made = now.made + 1;
      now = { made, over: success || made >= turns, said: text };
      const { outcome, ...parts } = rewards;
      const paid = partial ? parts : {};
      if (!now.over) return { rewards: paid };
      return {
        rewards: { ...paid, outcome },
        text,
        end: { kind: "done", reason: success ? "right" : "wrong", success },
      };
    },
  };
}

/** An environment of several tries; the task's reference is a right reply. */
export interface TriedWorld
  extends Pick<Environment, "name" | "summary" | "splits" | "tasks" | "flawed" | "vocabulary">,
    Omit<TriesOptions, "task"> {
  /** Largest length of a reply, in tokens. */
  readonly actionTokens: number;
}

/** Makes an environment of this kind: its expert replies with the reference, and `verify` grades the last reply. */
export function tried({ turns, partial, grade, actionTokens, ...world }: TriedWorld): Environment {
  return defineEnvironment({
    ...world,
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    limits: { turns, actionTokens },
    start: async (task) => tries({ task, turns, grade, ...(partial === undefined ? {} : { partial }) }),
    expert: (task) => task.reference ?? "",
    async verify(task, { turns: made }) {
      const last = made.at(-1)?.action.content.trim();
      return last === undefined ? { outcome: 0 } : (await grade(task, last)).rewards;
    },
  });
}

/** Makes the mistake in the task's metadata at every try, in a fixed three fifths of the tasks. */
export const slipping: Player = ({ seed, metadata, reference = "" }) =>
  randomStream(seed).split("careless").below(5) < 3 ? String(metadata.slip) : reference;
