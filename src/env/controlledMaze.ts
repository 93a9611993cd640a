/** Mazes whose difficulty has two knobs: how long the shortest way is, and how often it turns. */
import { WhetstoneError } from "../core/errors.ts";
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Message, Task } from "../core/words.ts";
import { type Ability, defineEnvironment, type Environment, type Player } from "./environment.ts";
import { beside, carved, type Direction, directions, distances, stepped, towards, turned } from "./grids.ts";
import { machine, type Rules } from "./machine.ts";

/** What the mazes of a level have in common; ranges hold both of their ends. */
export interface MazeLevel {
  /** Cells along each side. */
  readonly side: number;
  /** P, moves of a shortest way. */
  readonly path: readonly [from: number, to: number];
  /** C, the fewest turns of a way so short. Default: any. */
  readonly turns?: readonly [from: number, to: number];
}

/** Settings of {@link controlledMaze}. */
export interface ControlledMazeOptions {
  /** From easy to hard. Default: five of growing size, P from 1–3 to 13–18, any C. */
  readonly levels?: readonly MazeLevel[];
  /** Mazes of each level in each split. Default 20. */
  readonly perLevel?: number;
  /** Draws of walls to open beyond a spanning tree, so that several ways may lead to the goal. Default 0. */
  readonly loops?: number;
  /**
   * What is answered: the whole way at once, from a picture ("route"), or a move at a time, seeing the ways on and where
   * the goal lies, as one who walks there ("steps"). Default "route".
   */
  readonly shape?: "route" | "steps";
  /** Moves allowed beyond P, in steps. Default 6. */
  readonly slack?: number;
  /** What a route is paid for being a list of moves. Default 0.1. */
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

interface Maze {
  readonly side: number;
  readonly start: number;
  readonly goal: number;
  readonly open: readonly (readonly Direction[])[];
}
const mazeOf = (task: Task): Maze => task.metadata as unknown as Maze;

/**
 * A way from start to goal, as a list of moves or move by move. Every way that runs into no wall is right, not only a
 * shortest one; what comes after the goal does not count. Each task says its `level`, and its P and C as `path` and
 * `turns`. Rewards: `outcome` 1 or 0 at the end, and `format` for a route in which every word is a move. The first step
 * into a wall, or a word that is no move, ends the walk. The flawed player goes where the goal lies as the crow flies.
 * Paper: "Ariadne: A Controllable Framework for Probing and Extending VLM Reasoning Boundaries".
 * @throws WhetstoneError `option.range` where no maze of a level's size is like that.
 */
export function controlledMaze(options: ControlledMazeOptions = {}): Environment {
  const { levels = fiveLevels, perLevel = 20, loops = 0, shape = "route", slack = 6, seed = 1 } = options;
  const { format = 0.1 } = options;
  const always = ["fork", "replay", "stateKey", "expert"] as const;
  const splits = ["train", "validation", "test"] as const;
  const moveLimit = Math.max(...levels.map(({ path }) => path[1])) + slack;
  let made: ReadonlyMap<string, readonly Task[]> | undefined;
  const makeTasks = (): ReadonlyMap<string, readonly Task[]> => {
    const known = new Set<string>();
    const taskOf = (split: string, index: number): Task => {
      const level = Math.floor(index / perLevel);
      const random = randomStream("controlled maze").split(seed, split, index);
      const { maze, path, turns } = findMaze(levels[level]!, loops, random, known);
      const prompt = shape === "route" ? picture(maze) : outlook(maze, { cell: maze.start, facing: "north" });
      return {
        id: `controlled-maze/${split}/${index}`,
        prompt: [{ role: "user", content: prompt }],
        metadata: { ...maze, level, path, turns },
        seed: random.seed,
      };
    };
    const size = levels.length * perLevel;
    return new Map(splits.map((split) => [split, Array.from({ length: size }, (_, i) => taskOf(split, i))]));
  };
  const rules = (task: Task): Rules<Walker> =>
    shape === "route" ? routeRules(task, format) : stepRules(task, Number(task.metadata.path) + slack);
  return defineEnvironment({
    name: "controlled-maze",
    summary: "find the way through mazes of set length and turns, by a list of moves or step by step",
    abilities: new Set<Ability>([...always, ...(shape === "steps" ? (["legal"] as const) : [])]),
    roles: ["agent"],
    splits,
    limits:
      shape === "route" ? { turns: 1, actionTokens: moveLimit + 1 } : { turns: moveLimit, actionTokens: 1 },
    tasks: (split) => (made ??= makeTasks()).get(split) ?? [],
    start: async (task, random) =>
      machine(rules(task), { cell: mazeOf(task).start, facing: "north", moved: 0 }, random),
    lexicon: () =>
      shape === "route"
        ? [`${asked} \n # . S G`, directions.join(" "), ...shortfalls(moveLimit * 4)]
        : [steps.join(" "), `${walls} wall way end near goal`, "a wall is there ; that is no move"],
    expert: shape === "route" ? wholeWay : (task, talk) => nextStep(task, talk, shortestMove),
    flawed: shape === "route" ? crowsWay : (task, talk) => nextStep(task, talk, crowsMove),
    verify: async (task, { turns }) => {
      const maze = mazeOf(task);
      if (shape === "route")
        return { outcome: followed(maze, turns[0]?.action.content ?? "").arrived ? 1 : 0 };
      const walker = walked(
        maze,
        turns.slice(0, Number(task.metadata.path) + slack).map((t) => t.action.content),
      );
      return { outcome: walker?.cell === maze.goal ? 1 : 0 };
    },
  });
}

/** P and C of a way from a start to every cell: moves of a shortest way, and the fewest turns of one so short. */
export function waysFrom(
  grid: Pick<Maze, "side" | "open">,
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
function findMaze({ side, path, turns }: MazeLevel, loops: number, random: Random, known: Set<string>) {
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
    mend: "Make the grid larger, the ranges wider, or ask for fewer mazes of each level.",
  });
}

// --- the whole way at once

const asked = "moves from S to G :";

/** Walls and cells as one who looks from above sees them, a word for each square. */
function picture({ side, open, start, goal }: Maze): string {
  const squares = Array.from({ length: 2 * side + 1 }, () => Array.from({ length: 2 * side + 1 }, () => "#"));
  open.forEach((ways, cell) => {
    const [row, column] = [2 * Math.floor(cell / side) + 1, 2 * (cell % side) + 1];
    squares[row]![column] = cell === start ? "S" : cell === goal ? "G" : ".";
    if (ways.includes("east")) squares[row]![column + 1] = ".";
    if (ways.includes("south")) squares[row + 1]![column] = ".";
  });
  return `${asked}\n${squares.map((row) => row.join(" ")).join("\n")}`;
}

const isDirection = (word: string): word is Direction => directions.some((d) => d === word);

/** How far a list of moves leads: until the goal, a wall or a word that is no move. */
function followed(maze: Maze, route: string) {
  const words = route.trim() === "" ? [] : route.trim().split(/\s+/);
  let cell = maze.start;
  for (const [made, word] of words.entries()) {
    if (cell === maze.goal) break;
    const next = isDirection(word) ? stepped(maze, cell, word) : undefined;
    if (next === undefined)
      return { cell, made, arrived: false, why: isDirection(word) ? "wall" : "word" } as const;
    cell = next;
  }
  return { cell, made: words.length, arrived: cell === maze.goal, why: "short" } as const;
}

const shortfall = {
  wall: "a wall is in the way after",
  word: "no move after",
  short: "still not there after",
};
const shortfalls = (most: number): string[] => [
  ...Object.values(shortfall),
  ...Array.from({ length: most + 1 }, (_, n) => String(n)),
  "moves",
];

function routeRules(task: Task, format: number): Rules<Walker> {
  const maze = mazeOf(task);
  return {
    see: () => ({ messages: [], stateKey: task.id }),
    act: (walker, action) => {
      const { arrived, made, why } = followed(maze, action);
      const words = action.split(/\s+/);
      const told = Math.min(made, 4 * maze.side ** 2);
      return {
        next: walker,
        rewards: { outcome: arrived ? 1 : 0, format: words.every(isDirection) ? format : 0 },
        ...(!arrived && { text: `${shortfall[why]} ${told} moves` }),
        end: { kind: "done", reason: arrived ? "there" : why, success: arrived },
      };
    },
  };
}

const wholeWay: Player = (task) => {
  const maze = mazeOf(task);
  const moves: Direction[] = [];
  for (let cell = maze.start; cell !== maze.goal; cell = beside(cell, moves.at(-1)!, maze.side)!)
    moves.push(shortestMove(maze, cell));
  return moves.join(" ");
};

const crowsWay: Player = (task) => {
  const maze = mazeOf(task);
  const moves: Direction[] = [];
  let cell = maze.start;
  while (cell !== maze.goal && moves.length < Number(task.metadata.path)) {
    const move = crowsMove(maze, cell);
    moves.push(move);
    cell = stepped(maze, cell, move) ?? cell;
  }
  return moves.join(" ");
};

function shortestMove(maze: Maze, cell: number): Direction {
  const left = distances(maze, maze.goal);
  return maze.open[cell]!.reduce((a, b) =>
    left[stepped(maze, cell, b)!]! < left[stepped(maze, cell, a)!]! ? b : a,
  );
}

/** An open way towards the goal where there is one, and else the first way. */
const crowsMove = (maze: Maze, cell: number): Direction =>
  towards(cell, maze.goal, maze.side).find((d) => maze.open[cell]!.includes(d)) ?? maze.open[cell]![0]!;

// --- step by step

/** Quarter turns clockwise by word. */
const steps: readonly string[] = ["ahead", "right", "back", "left"];
const walls = steps.map((step) => `${step} :`).join(" ");

interface Pose {
  readonly cell: number;
  readonly facing: Direction;
}
interface Walker extends Pose {
  readonly moved: number;
}

/** How far along the way the goal is seen. */
const sight = 4;

/** What a walker sees to each side: a wall, a way, a dead end, the goal near by; and where the goal lies. */
function outlook(maze: Maze, { cell, facing }: Pose): string {
  const left = distances(maze, maze.goal);
  const seen = steps.map((step, quarters) => {
    const next = stepped(maze, cell, turned(facing, quarters));
    if (next === undefined) return `${step} : wall`;
    if (left[cell]! <= sight && left[next]! < left[cell]!) return `${step} : near`;
    return `${step} : ${maze.open[next]!.length === 1 ? "end" : "way"}`;
  });
  const goalward = towards(cell, maze.goal, maze.side).map((d) => stepTo(facing, d));
  return `${seen.join(" ")} goal ${goalward.join(" ")}`;
}

const stepTo = (facing: Direction, d: Direction): string =>
  steps[(directions.indexOf(d) - directions.indexOf(facing) + 4) % 4]!;

/** Where a step leads, facing the way it went; undefined for a wall and for what is no step. */
function tread(maze: Maze, { cell, facing }: Pose, action: string): Pose | undefined {
  const quarters = steps.indexOf(action.trim());
  const heading = turned(facing, Math.max(0, quarters));
  const next = quarters < 0 ? undefined : stepped(maze, cell, heading);
  return next === undefined ? undefined : { cell: next, facing: heading };
}

/** After these actions, none of them after the goal; undefined where one of them did not lead on. */
function walked(maze: Maze, actions: readonly string[]): Pose | undefined {
  let pose: Pose | undefined = { cell: maze.start, facing: "north" };
  for (const action of actions) if (pose && pose.cell !== maze.goal) pose = tread(maze, pose, action);
  return pose;
}

function stepRules(task: Task, most: number): Rules<Walker> {
  const maze = mazeOf(task);
  return {
    see: (walker) => ({
      messages: walker.moved === 0 ? [] : [{ role: "user", content: outlook(maze, walker) }],
      stateKey: `${task.id} at ${walker.cell} facing ${walker.facing}`,
      legal: maze.open[walker.cell]!.map((d) => stepTo(walker.facing, d)),
    }),
    act: (walker, action) => {
      const pose = tread(maze, walker, action);
      if (!pose) {
        const text = steps.includes(action) ? "a wall is there" : "that is no move";
        const end = { kind: "done", reason: text, success: false } as const;
        return { next: walker, rewards: { outcome: 0 }, text, end };
      }
      const next = { ...pose, moved: walker.moved + 1 };
      if (pose.cell === maze.goal)
        return { next, rewards: { outcome: 1 }, end: { kind: "done", reason: "there", success: true } };
      if (next.moved < most) return { next };
      return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: most } };
    },
  };
}

function nextStep(
  task: Task,
  talk: readonly Message[],
  choose: (maze: Maze, cell: number) => Direction,
): string {
  const maze = mazeOf(task);
  const said = talk.flatMap(({ role, content }) => (role === "assistant" ? [content] : []));
  const pose = walked(maze, said) ?? { cell: maze.start, facing: "north" };
  return stepTo(pose.facing, choose(maze, pose.cell));
}
