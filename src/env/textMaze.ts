/** Mazes with every cell as a start, observed with or without the agent's position. */
import { randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { demand, isWhole } from "./demand.ts";
import { defineEnvironment, type Environment, type Player } from "./environment.ts";
import { carved, type Direction, directions, distances, type Grid, stepped } from "./grids.ts";
import { heldOutSplits, itemsOf } from "./heldOut.ts";
import { machine, type Rules } from "./machine.ts";

/** Settings of {@link textMaze}. */
export interface TextMazeOptions {
  /** Cells along each side, 2 to 10. Default 5. */
  readonly side?: number;
  /** Number of random walls to open beyond a spanning tree. Default 4. */
  readonly loops?: number;
  /** Different mazes. Default 20. */
  readonly layouts?: number;
  /** Observation. "place": the positions of agent and goal, and the open ways; "walls": the open ways alone. Default "place". */
  readonly sees?: "place" | "walls";
  /** Step limit of an episode. Default 50. */
  readonly turns?: number;
  /** Seed of the mazes. Default 1. */
  readonly seed?: number;
}

interface Maze extends Grid {
  readonly layout: number;
  readonly goal: number;
}
interface State {
  readonly cell: number;
  readonly turn: number;
}

const wall = "a wall is there";
const noMove = "say go and a direction";

/**
 * A task is a maze and a start cell; all cells of a maze belong to one split. Moves are `go north`…; a move into a wall has no
 * effect, and the text says so. Rewards: `cost`, −1 for every move that does not reach the goal, and at the end `outcome`.
 * With "walls", many cells look the same. The expert takes a shortest path; the flawed player does so with probability ½ at
 * each move, and moves at random otherwise.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 * @throws WhetstoneError `option.range`.
 */
export function textMaze(options: TextMazeOptions = {}): Environment {
  const { side = 5, loops = 4, layouts = 20, sees = "place", turns = 50, seed = 1 } = options;
  demand(isWhole(side, 2, 10), "textMaze: side", side, "a whole number from 2 to 10");
  const mazes = Array.from({ length: layouts }, (_, layout): Maze => {
    const random = randomStream(seed).split("text maze", layout);
    return { ...carved(side, loops, random), layout, goal: random.below(side * side) };
  });
  const steps = mazes.map((maze) => distances(maze, maze.goal));
  const mazeOf = (task: Task): Maze => mazes[Number(task.metadata.layout)]!;
  const startOf = (task: Task): number => Number(task.metadata.start);

  const place = (cell: number): string => `${cell % side} ${Math.floor(cell / side)}`;
  const view = (maze: Maze, cell: number): string => {
    const open = `open : ${maze.open[cell]!.join(" ")}`;
    return sees === "walls" ? open : `at ${place(cell)} ; goal at ${place(maze.goal)} ; ${open}`;
  };

  const rules = (maze: Maze): Rules<State> => ({
    see: ({ cell, turn }) => ({
      messages: turn === 0 ? [] : [{ role: "user", content: view(maze, cell) }],
      stateKey: `maze ${maze.layout} at ${cell}`,
      legal: moves,
    }),
    act({ cell, turn }, action) {
      const to = moved(maze, cell, action);
      const next = { cell: to ?? cell, turn: turn + 1 };
      const success = to === maze.goal;
      if (success)
        return { next, rewards: { outcome: 1 }, end: { kind: "done", reason: "arrived", success } };
      const over = turn + 1 >= turns;
      return {
        next,
        rewards: { cost: -1, ...(over && { outcome: 0 }) },
        ...(to === undefined && { text: directionIn(action) ? wall : noMove }),
        ...(over && { end: { kind: "truncated", limit: "turns", at: turn + 1 } }),
      };
    },
  });

  const walked = (task: Task, actions: readonly string[]): number => {
    const maze = mazeOf(task);
    return actions.reduce(
      (cell, action) => (cell === maze.goal ? cell : (moved(maze, cell, action) ?? cell)),
      startOf(task),
    );
  };

  const expert: Player = (task, conversation) => {
    const maze = mazeOf(task);
    const cell = walked(
      task,
      conversation.flatMap((m) => (m.role === "assistant" ? [m.content] : [])),
    );
    const far = (d: Direction): number => steps[maze.layout]![stepped(maze, cell, d)!]!;
    const ways = maze.open[cell]!;
    return `go ${ways.reduce((a, b) => (far(b) < far(a) ? b : a))}`;
  };

  return defineEnvironment({
    name: "text-maze",
    summary: "walk to the goal of a maze from any cell, seeing one's place or the walls alone",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: heldOutSplits,
    limits: { turns, actionTokens: 3 },
    tasks: (split) =>
      itemsOf(mazes, split, randomStream(seed).split("layouts")).flatMap((maze) =>
        [...maze.open.keys()]
          .filter((start) => start !== maze.goal)
          .map((start) => ({
            id: `text-maze/${split}/${maze.layout}/${start}`,
            prompt: [{ role: "user" as const, content: view(maze, start) }],
            metadata: { layout: maze.layout, start, shortest: steps[maze.layout]![start]! },
            seed: randomStream(seed).split("text maze", maze.layout, start).seed,
          })),
      ),
    start: async (task, random) => machine(rules(mazeOf(task)), { cell: startOf(task), turn: 0 }, random),
    vocabulary: () => [
      ...moves,
      `at goal ; open : ${Array.from({ length: side }, (_, i) => i).join(" ")}`,
      wall,
      noMove,
    ],
    expert,
    flawed: (task, conversation, random) =>
      random.next() < 0.5 ? moves[random.below(moves.length)]! : expert(task, conversation, random),
    async verify(task, trajectory) {
      const actions = trajectory.turns.slice(0, turns).map((t) => t.action.content);
      return { outcome: walked(task, actions) === mazeOf(task).goal ? 1 : 0 };
    },
  });
}

const moves: readonly string[] = directions.map((d) => `go ${d}`);

const directionIn = (action: string): Direction | undefined =>
  directions.find((d) => action.trim().toLowerCase() === `go ${d}`);

/** The cell that an action leads to; undefined for a wall and for what is no move. */
function moved(maze: Maze, cell: number, action: string): number | undefined {
  const d = directionIn(action);
  return d === undefined ? undefined : stepped(maze, cell, d);
}
