/** Mazes of a level: drawn until the shortest way is as long, and turns as often, as the level says. */
import { WhetstoneError } from "../../core/errors.ts";
import { type Random, shuffled } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";
import type { Episode, Player } from "../environment.ts";
import { carved, type Direction, distances, type Grid, stepped, towards } from "../grids.ts";

/** What the mazes of a level have in common; ranges hold both of their ends. */
export interface MazeLevel {
  /** Cells along each side. */
  readonly side: number;
  /** P, moves of a shortest way. */
  readonly path: readonly [from: number, to: number];
  /** C, the fewest turns of a way so short. Default: any. */
  readonly turns?: readonly [from: number, to: number];
}

/** A grid with two cells to go between. */
export interface Maze extends Grid {
  readonly start: number;
  readonly goal: number;
}
/** The maze of a task made by {@link findMaze}. */
export const mazeOf = (task: Task): Maze => task.metadata as unknown as Maze;

/** P and C of a way from a start to every cell: moves of a shortest way, and the fewest turns of one so short. */
export function waysFrom(
  grid: Grid,
  start: number,
): readonly { readonly path: number; readonly turns: number }[] {
  const path = distances(grid, start);
  // fewest turns of a shortest way that comes in by each direction
  const turns = grid.open.map(() => new Map<Direction, number>());
  const inOrder = [...path.keys()]
    .filter((c) => path[c]! < Number.POSITIVE_INFINITY)
    .sort((a, b) => path[a]! - path[b]!);
  for (const cell of inOrder) {
    for (const d of grid.open[cell]!) {
      const next = stepped(grid, cell, d)!;
      if (path[next] !== path[cell]! + 1) continue;
      const before = [...turns[cell]!].map(([by, n]) => n + (by === d ? 0 : 1));
      turns[next]!.set(d, cell === start ? 0 : Math.min(...before));
    }
  }
  return path.map((p, cell) => ({ path: p, turns: cell === start ? 0 : Math.min(...turns[cell]!.values()) }));
}

/** Mazes drawn until one is of the level, and new. */
export function findMaze(
  { side, path, turns }: MazeLevel,
  loops: number,
  random: Random,
  known: Set<string>,
) {
  const within = (x: number, [from, to]: readonly [number, number]): boolean => x >= from && x <= to;
  for (let tried = 0; tried < 2000; tried++) {
    const stream = random.split("try", tried);
    const grid = carved(side, loops, stream);
    const start = stream.below(side * side);
    const ways = waysFrom(grid, start);
    for (const goal of shuffled([...grid.open.keys()], stream)) {
      const way = ways[goal]!;
      const maze: Maze = { ...grid, start, goal };
      if (goal === start || !within(way.path, path) || !within(way.turns, turns ?? [0, side ** 2])) continue;
      const layout = JSON.stringify(maze);
      if (known.has(layout)) continue;
      known.add(layout);
      return { maze, ...way };
    }
  }
  throw new WhetstoneError("option.range", {
    where: "controlledMaze, levels",
    got: `${side} × ${side} cells, ways of ${path.join("–")} moves${turns ? ` with ${turns.join("–")} turns` : ""}`,
    expected: "a level of which there are enough mazes",
    fix: "Make the grid larger, the ranges wider, or ask for fewer mazes of each level.",
  });
}

/** The way on that is on a shortest way to the goal. */
export function shortestMove(maze: Maze, cell: number): Direction {
  const left = distances(maze, maze.goal);
  return maze.open[cell]!.reduce((a, b) =>
    left[stepped(maze, cell, b)!]! < left[stepped(maze, cell, a)!]! ? b : a,
  );
}

/** An open way towards the goal where there is one, and else the first way. */
export const crowsMove = (maze: Maze, cell: number): Direction =>
  towards(cell, maze.goal, maze.side).find((d) => maze.open[cell]!.includes(d)) ?? maze.open[cell]![0]!;

/** What is asked of one in a maze: everything in which a list of moves and a walk differ. */
export interface MazeShape {
  readonly actionTokens: number;
  readonly turns: number;
  readonly vocabulary: readonly string[];
  prompt(maze: Maze): string;
  begin(task: Task, random: Random): Episode;
  /** Whether these actions lead to the goal; total. */
  arrives(task: Task, actions: readonly string[]): boolean;
  readonly expert: Player;
  readonly flawed: Player;
}
