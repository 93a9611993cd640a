/** Mazes with two difficulty parameters: length P and number of turns C of the shortest path. */
import { randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { type Ability, defineEnvironment, type Environment } from "./environment.ts";
import { findMaze, type MazeLevel } from "./mazes/levels.ts";
import { routeShape } from "./mazes/route.ts";
import { stepShape } from "./mazes/steps.ts";

/** Settings of {@link controlledMaze}. */
export interface ControlledMazeOptions {
  /** From easy to hard. Default: five of growing size, P from 1–3 to 13–18, any C. */
  readonly levels?: readonly MazeLevel[];
  /** Mazes of each level in each split. Default 20. */
  readonly perLevel?: number;
  /** Number of random walls to open beyond a spanning tree, so that several paths may lead to the goal. Default 0. */
  readonly loops?: number;
  /**
   * Form of the answer. "route": the whole path at once, from a picture of the maze. "steps": one move at a time, where the
   * agent sees the open ways and the direction of the goal. Default "route".
   */
  readonly shape?: "route" | "steps";
  /** Number of moves allowed beyond P. Default 6. */
  readonly slack?: number;
  /** Format reward of a route that is a list of moves. Default 0.1. */
  readonly format?: number;
  /** Where the mazes come from. Default 1. */
  readonly seed?: number;
}

const fiveLevels: readonly MazeLevel[] = [
  { side: 3, path: [1, 3] },
  { side: 4, path: [4, 6] },
  { side: 5, path: [7, 9] },
  { side: 6, path: [10, 12] },
  { side: 7, path: [13, 18] },
];

/**
 * A path from start to goal, as a list of moves or move by move. Every path without a collision is right, not only a shortest
 * one; moves after the goal are ignored. A task's metadata hold its `level`, and its P and C as `path` and `turns`. Rewards:
 * `outcome` 1 or 0 at the end, and `format` for a route in which every word is a move. The first step into a wall, or a word
 * that is no move, ends the walk. The flawed player always moves in the straight-line direction of the goal.
 * Paper: "Ariadne: A Controllable Framework for Probing and Extending VLM Reasoning Boundaries".
 * @throws WhetstoneError `option.range` where no maze of a level's size has its P and C.
 */
export function controlledMaze(options: ControlledMazeOptions = {}): Environment {
  const { levels = fiveLevels, perLevel = 20, loops = 0, seed = 1 } = options;
  const { shape: named = "route", slack = 6, format = 0.1 } = options;
  const always = ["replay", "stateKey", "expert"] as const;
  const splits = ["train", "validation", "test"] as const;
  const longest = Math.max(...levels.map(({ path }) => path[1]));
  const shape = named === "route" ? routeShape(longest + slack, format) : stepShape(longest, slack);
  let made: ReadonlyMap<string, readonly Task[]> | undefined;
  const makeTasks = (): ReadonlyMap<string, readonly Task[]> => {
    const known = new Set<string>();
    const taskOf = (split: string, index: number): Task => {
      const level = Math.floor(index / perLevel);
      const random = randomStream("controlled maze").split(seed, split, index);
      const { maze, path, turns } = findMaze(levels[level]!, loops, random, known);
      return {
        id: `controlled-maze/${split}/${index}`,
        prompt: [{ role: "user", content: shape.prompt(maze) }],
        metadata: { ...maze, level, path, turns },
        seed: random.seed,
      };
    };
    const size = levels.length * perLevel;
    return new Map(splits.map((split) => [split, Array.from({ length: size }, (_, i) => taskOf(split, i))]));
  };
  return defineEnvironment({
    name: "controlled-maze",
    summary: "find the way through mazes of set length and turns, by a list of moves or step by step",
    abilities: new Set<Ability>([...always, ...(named === "steps" ? (["legal"] as const) : [])]),
    roles: ["agent"],
    splits,
    limits: { turns: shape.turns, actionTokens: shape.actionTokens },
    tasks: (split) => (made ??= makeTasks()).get(split) ?? [],
    start: async (task, random) => shape.begin(task, random),
    vocabulary: () => shape.vocabulary,
    expert: shape.expert,
    flawed: shape.flawed,
    verify: async (task, { turns }) => ({
      outcome: shape.arrives(
        task,
        turns.map(({ action }) => action.content),
      )
        ? 1
        : 0,
    }),
  });
}
