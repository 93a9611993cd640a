/** The whole way at once: a picture from above, answered by a list of moves. */
import type { Task } from "../../core/types.ts";
import type { Player } from "../environment.ts";
import { beside, type Direction, directions, stepped } from "../grids.ts";
import { machine, type Rules } from "../machine.ts";
import { crowsMove, type Maze, type MazeShape, mazeOf, shortestMove } from "./levels.ts";

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
function rules(task: Task, most: number, format: number): Rules<null> {
  const maze = mazeOf(task);
  return {
    see: () => ({ messages: [], stateKey: task.id }),
    act: (_state, action) => {
      const { arrived, made, why } = followed(maze, action);
      return {
        next: null,
        rewards: { outcome: arrived ? 1 : 0, format: action.split(/\s+/).every(isDirection) ? format : 0 },
        ...(!arrived && { text: `${shortfall[why]} ${Math.min(made, most)} moves` }),
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

/** @param most moves that a reply may hold. @param format what is paid for a reply of moves alone. */
export const routeShape = (most: number, format: number): MazeShape => ({
  actionTokens: most + 1,
  turns: 1,
  vocabulary: [
    `${asked} \n # . S G`,
    directions.join(" "),
    ...Object.values(shortfall),
    ...Array.from({ length: most + 1 }, (_, n) => String(n)),
  ],
  prompt: picture,
  begin: (task, random) => machine(rules(task, most, format), null, random),
  arrives: (task, [route = ""]) => followed(mazeOf(task), route).arrived,
  expert: wholeWay,
  flawed: crowsWay,
});
