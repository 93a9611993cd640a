/** A hall of doors with a thing behind one of them, which can only be found by looking. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Settings of {@link hall}. */
export interface HallOptions {
  /** Doors in a row. Default 7. */
  readonly doors?: number;
  /** Default 24. */
  readonly turns?: number;
  /** Tasks of training and of "test". Default 40. */
  readonly tasks?: number;
  /** Default 1. */
  readonly seed?: number;
}

interface State {
  readonly at: number;
  /** Doors that were looked behind. */
  readonly tried: readonly number[];
  readonly turn: number;
}

const actions = ["left", "right", "look"] as const;

/** Where the thing is, and where one begins. */
const goalOf = (task: Task): number => Number(task.metadata.goal);
const startOf = (task: Task): number => Number(task.metadata.start);

/** Fewest actions to the thing for who knows where it is. */
export const shortestOf = (task: Task): number => Math.abs(goalOf(task) - startOf(task)) + 1;

/**
 * The agent stands before a door and sees which one it is and which ones it has looked behind, `at d3 tried d2 d4`; not where the
 * thing is. It goes left or right, or looks; looking behind the right door ends the episode with success and pays 1. Start and door of
 * the thing are drawn for each task. The expert knows where it is, goes there and looks.
 */
export function hall(options: HallOptions = {}): Environment {
  const { doors = 7, turns = 24, tasks: count = 40, seed = 1 } = options;
  const splits = ["train", "test"] as const;
  const see = ({ at, tried }: Pick<State, "at" | "tried">): string =>
    ["at", `d${at}`, "tried", ...tried.map((door) => `d${door}`)].join(" ");
  const taskAt = (split: string, index: number): Task => {
    const random = randomStream(seed).split("hall", split, index);
    const start = random.below(doors);
    return {
      id: `hall/${split}/${index}`,
      prompt: [{ role: "user", content: see({ at: start, tried: [] }) }],
      metadata: { start, goal: random.below(doors) },
      seed: random.seed,
    };
  };
  return defineEnvironment({
    name: "hall",
    summary: "find the thing behind one of a row of doors",
    abilities: new Set(["replay", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    vocabulary: () => ["at tried", ...actions, ...Array.from({ length: doors }, (_, d) => `d${d}`)],
    tasks: (split) =>
      splits.some((name) => name === split) ? Array.from({ length: count }, (_, i) => taskAt(split, i)) : [],
    expert: (task, conversation) => {
      const at = Number(/at d(\d+)/.exec(conversation.at(-1)?.content ?? "")?.[1]);
      return at === goalOf(task) ? "look" : at > goalOf(task) ? "left" : "right";
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: (state) => ({
            messages: state.turn === 0 ? [] : [{ role: "user", content: see(state) }],
            legal: actions,
          }),
          act: ({ at, tried, turn }, action) => {
            const to = action === "left" ? Math.max(0, at - 1) : Math.min(doors - 1, at + 1);
            const moves = action === "left" || action === "right";
            const found = action === "look" && at === goalOf(task);
            const looked =
              action === "look" && !tried.includes(at) ? [...tried, at].sort((a, b) => a - b) : tried;
            const next = { at: moves ? to : at, tried: looked, turn: turn + 1 };
            const rewards = { outcome: Number(found) };
            if (found) return { next, rewards, end: { kind: "done", reason: "found", success: true } };
            if (next.turn < turns) return { next, rewards };
            return { next, rewards, end: { kind: "done", reason: "out of time", success: false } };
          },
        },
        { at: startOf(task), tried: [], turn: 0 },
        random,
      ),
    verify: async (_task, { turns: made }) => ({ outcome: made.at(-1)?.rewards.outcome ?? 0 }),
  });
}
