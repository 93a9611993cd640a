/** A long corridor of cells: each has one right action, and a wrong one may end the episode. */
import { type Random, randomStream } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../env/environment.ts";

/** Settings of {@link corridor}. */
export interface CorridorOptions {
  /** Number of cells, one action each. Default 100. */
  readonly cells?: number;
  /** Kinds of cells. Default 8. */
  readonly kinds?: number;
  /** Actions to choose from. Default 4. */
  readonly actions?: number;
  /** Probability that a wrong action ends the episode. Default 0.3. */
  readonly fatal?: number;
  /** Reward: 1 / cells for each cell survived ("cell"), or 1 at the end alone ("end"). Default "cell". */
  readonly pay?: "cell" | "end";
  /** Layouts per split. Default 50. */
  readonly layouts?: number;
  /** Seed of the right actions and the layouts. Default 1. */
  readonly seed?: number;
}

/**
 * The observation is the kind of the cell and the previous action, `k3 a1`. They determine the right action, in every layout
 * alike, and are the whole Markov state. A task is a layout. A wrong action is survived with probability 1 − fatal. Reaching
 * the end is the success.
 */
export function corridor(options: CorridorOptions = {}): Environment {
  const { cells = 100, kinds = 8, actions = 4, fatal = 0.3, pay = "cell", layouts = 50, seed = 1 } = options;
  const words = Array.from({ length: actions }, (_, i) => `a${i}`);
  const splits = ["train", "test"] as const;
  const kindOf = (task: Task, cell: number): number =>
    randomStream(task.seed).split("cell", cell).below(kinds);
  const view = (task: Task, cell: number, before: string): string => `k${kindOf(task, cell)} ${before}`;
  const rightAfter = (seen: string): string => words[randomStream(seed).split("right", seen).below(actions)]!;

  function taskAt(split: string, index: number): Task {
    const stream = randomStream(seed).split("layout", split, index);
    const task: Task = { id: `corridor/${split}/${index}`, prompt: [], metadata: {}, seed: stream.seed };
    return { ...task, prompt: [{ role: "user", content: view(task, 0, "start") }] };
  }

  function start(task: Task, random: Random): Episode {
    let cell = 0;
    let now = view(task, 0, "start");
    let ended = false;
    return {
      async observe() {
        const messages = cell === 0 ? [] : [{ role: "user" as const, content: now }];
        return { role: "agent", observation: { messages, stateKey: now, legal: words } };
      },
      async act(action): Promise<Step> {
        if (ended) return alreadyOver;
        const said = action.content.trim();
        const survives = said === rightAfter(now) || random.split("luck", cell).next() >= fatal;
        if (!survives || !words.includes(said)) {
          ended = true;
          return { rewards: { outcome: 0 }, end: { kind: "done", reason: "fell", success: false } };
        }
        cell++;
        ended = cell >= cells;
        const outcome = pay === "cell" ? 1 / cells : ended ? 1 : 0;
        if (ended)
          return { rewards: { outcome }, end: { kind: "done", reason: "got through", success: true } };
        now = view(task, cell, said);
        return { rewards: { outcome } };
      },
    };
  }

  return defineEnvironment({
    name: "corridor",
    summary: "get through a long corridor; the right action depends on the cell and the action before",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: cells, actionTokens: 1 },
    tasks: (split) =>
      splits.some((s) => s === split) ? Array.from({ length: layouts }, (_, i) => taskAt(split, i)) : [],
    start: async (task, random) => start(task, random),
    vocabulary: () => [...words, "start", ...Array.from({ length: kinds }, (_, i) => `k${i}`)],
    expert: (_task, conversation) => rightAfter(conversation.at(-1)!.content),
    /** Randomness is drawn only while playing, so `verify` returns the last recorded reward. */
    async verify(_task: Task, trajectory: Trajectory) {
      return { outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 };
    },
  });
}
