/** Square grids with walls between cells, which mazes share. A cell's index is row × side + column. */
import { type Random, shuffled } from "../core/random.ts";

/** Clockwise. */
export const directions = ["north", "east", "south", "west"] as const;
export type Direction = (typeof directions)[number];

const moves: Readonly<Record<Direction, readonly [column: number, row: number]>> = {
  north: [0, -1],
  east: [1, 0],
  south: [0, 1],
  west: [-1, 0],
};

/** The direction after a number of clockwise quarter turns. */
export const turned = (from: Direction, quarters: number): Direction =>
  directions[(directions.indexOf(from) + quarters + 4) % 4]!;

/** A grid: the open directions of each cell. */
export interface Grid {
  readonly side: number;
  readonly open: readonly (readonly Direction[])[];
}

/** The neighbouring cell in a direction, ignoring walls; undefined outside the grid. */
export function beside(cell: number, direction: Direction, side: number): number | undefined {
  const [dc, dr] = moves[direction];
  const column = (cell % side) + dc;
  const row = Math.floor(cell / side) + dr;
  return column < 0 || row < 0 || column >= side || row >= side ? undefined : row * side + column;
}

/** The cell after a step in a direction; undefined where a wall is. */
export const stepped = ({ open, side }: Grid, cell: number, direction: Direction): number | undefined =>
  open[cell]?.includes(direction) ? beside(cell, direction, side) : undefined;

/** A maze: a spanning tree by depth-first search, with up to `loops` random walls opened; some draws open nothing. */
export function carved(side: number, loops: number, random: Random): Grid {
  const open = Array.from({ length: side * side }, () => new Set<Direction>());
  const join = (cell: number, d: Direction, next: number): void => {
    open[cell]!.add(d);
    open[next]!.add(turned(d, 2));
  };
  const seen = new Set<number>();
  const visit = (cell: number): void => {
    seen.add(cell);
    for (const d of shuffled(directions, random)) {
      const next = beside(cell, d, side);
      if (next === undefined || seen.has(next)) continue;
      join(cell, d, next);
      visit(next);
    }
  };
  visit(random.below(side * side));
  for (let i = 0; i < loops; i++) {
    const cell = random.below(side * side);
    const d = directions[random.below(4)]!;
    const next = beside(cell, d, side);
    if (next !== undefined) join(cell, d, next);
  }
  return { side, open: open.map((o) => directions.filter((d) => o.has(d))) };
}

/** Number of steps from each cell to a goal; infinite where there is no path. */
export function distances(grid: Grid, goal: number): readonly number[] {
  const steps = grid.open.map(() => Number.POSITIVE_INFINITY);
  steps[goal] = 0;
  const queue = [goal];
  for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
    for (const d of grid.open[cell]!) {
      const next = stepped(grid, cell, d)!;
      if (steps[next]! <= steps[cell]! + 1) continue;
      steps[next] = steps[cell]! + 1;
      queue.push(next);
    }
  }
  return steps;
}

/** Directions that lead towards a goal, ignoring walls. */
export function towards(cell: number, goal: number, side: number): readonly Direction[] {
  const columns = (goal % side) - (cell % side);
  const rows = Math.floor(goal / side) - Math.floor(cell / side);
  return directions.filter((d) => moves[d][0] * columns > 0 || moves[d][1] * rows > 0);
}
