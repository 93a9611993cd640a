/** Situations that need one command each; a supervisor sometimes gives the right one, which is executed at once. */
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link chores}. */
export interface ChoresOptions {
  /** Probability of a correction after a wrong command, in [0, 1]. Default 0.2. */
  readonly corrected?: number;
  /** Number of demonstrated situations, `s0`, `s1`… Default 20. */
  readonly shown?: number;
  /** Number of further situations, which are not demonstrated. Default 10. */
  readonly unseen?: number;
  /** Commands, `c0`, `c1`… Default 12. */
  readonly commands?: number;
  /** Tasks with situations of each of the two kinds. Default 60. */
  readonly tasks?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Situations in a row. */
const steps = 3;

/** The situations of a task. */
const situationsOf = (task: Task): readonly number[] => task.metadata.situations as readonly number[];

/** Whether a task's situations are among those that were shown. */
export const wasShown = (task: Task): boolean => task.metadata.shown === true;

export interface Chores extends Environment {
  /** Right command by situation, `s0` first: the shown ones, then the others. */
  readonly rights: readonly string[];
}

/**
 * Three situations in a row, each observed as its word. A right command has the reward `autonomous` 1. After a wrong one
 * the supervisor may give the right one, as text about the action, and it is executed instead. The next situation does not
 * depend on either. `outcome`, at the end, is the share of commands that needed no correction.
 */
export function chores(options: ChoresOptions = {}): Chores {
  const { corrected = 0.2, shown = 20, unseen = 10, commands = 12, tasks = 60, seed = 1 } = options;
  const root = randomStream(seed).split("chores");
  const words = Array.from({ length: commands }, (_, c) => `c${c}`);
  const rights = Array.from(
    { length: shown + unseen },
    (_, s) => words[root.split("right", s).below(commands)]!,
  );
  const taskAt = (split: string, index: number): Task => {
    const old = index < tasks;
    const random = root.split(split, index);
    const from = old ? 0 : shown;
    const pool = Array.from({ length: old ? shown : unseen }, (_, s) => from + s);
    return {
      id: `chores/${split}/${index}`,
      prompt: [],
      metadata: { index, shown: old, situations: shuffled(pool, random).slice(0, steps) },
      seed: random.seed,
    };
  };
  const isRight = (task: Task, step: number, content: string): boolean =>
    content.trim() === rights[situationsOf(task)[step]!];
  const start = (task: Task, random: Random): Episode => {
    const said: string[] = [];
    return {
      observe: async () => {
        const situation = situationsOf(task)[said.length] ?? situationsOf(task).at(-1)!;
        const messages = [{ role: "user", content: `s${situation}` } as const];
        return { role: "agent", observation: { messages, stateKey: `s${situation}`, legal: words } };
      },
      act: async ({ content }) => {
        const step = said.length;
        if (step >= steps) return alreadyOver;
        said.push(content);
        const right = isRight(task, step, content);
        const speaks = !right && random.split("speaks", step).next() < corrected;
        const own = said.filter((command, k) => isRight(task, k, command)).length;
        const success = own === steps;
        return {
          rewards: { autonomous: right ? 1 : 0, ...(said.length === steps && { outcome: own / steps }) },
          ...(speaks && { text: rights[situationsOf(task)[step]!]! }),
          ...(said.length === steps && {
            end: { kind: "done", reason: success ? "all right" : "done", success } as const,
          }),
        };
      },
    };
  };
  const conversationStep = (conversation: readonly { readonly role: string }[]): number =>
    conversation.filter(({ role }) => role === "assistant").length;
  const environment = defineEnvironment({
    name: "chores",
    summary: "choose the right command in each situation; somebody who watches corrects a wrong one at times",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: steps, actionTokens: 1 },
    vocabulary: () => [...words, ...rights.map((_, s) => `s${s}`)],
    tasks: (split) =>
      split === "train" || split === "test"
        ? Array.from({ length: 2 * tasks }, (_, i) => taskAt(split, i))
        : [],
    start: async (task, random) => start(task, random),
    expert: (task, conversation) => rights[situationsOf(task)[conversationStep(conversation)]!]!,
    verify: async (task, { turns }) => ({
      outcome: turns.filter(({ action }, k) => k < steps && isRight(task, k, action.content)).length / steps,
    }),
  });
  return { ...environment, rights };
}
