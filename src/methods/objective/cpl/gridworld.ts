/** A small gridworld with walks of equal length, any two of which can be compared by regret. */
import { sigmoid } from "../../../common/statistics/logistic.ts";
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link gridworld}. */
export interface GridworldOptions {
  /** Cells along each side. Default 6. */
  readonly side?: number;
  /** Number of blocked cells. Default 7. */
  readonly walls?: number;
  /** Moves of a walk, whether it reaches the goal or not. Default 24. */
  readonly turns?: number;
  /**
   * Criterion of the preferences: "regret", the sum of Q* − V* of the moves under the soft-optimal policy, or "return", the
   * discounted rewards. Default "regret".
   */
  readonly criterion?: "regret" | "return";
  /** Seed of the layout. Default 1. */
  readonly seed?: number;
}

/** A gridworld, which can also be looked at from outside. */
export interface Gridworld extends Environment {
  /** Free cells, the goal among them. */
  readonly cells: readonly number[];
  readonly goal: number;
  /** The cell that a move leads to; unchanged at a wall, at the edge and at the goal, which is absorbing. */
  next(cell: number, move: Move): number;
  /** What is seen in a cell. */
  view(cell: number): string;
}

export const gridMoves = ["north", "east", "south", "west"] as const;
export type Move = (typeof gridMoves)[number];

const discount = 0.95;
/** Entropy temperature of the soft-optimal policy, in units of reward. */
const softness = 0.1;
/** Temperature of the preferences, in units of reward: how much better a walk must be to be preferred almost surely. */
const preferenceTemperature = 0.1;

/**
 * A walk lasts `turns` moves, so that all walks have equal length; the reward is 1 if it ends at the goal, which is
 * absorbing. For the preferences, entering the goal has reward 1, once, and every other move 0. Walks begin in any free cell.
 * The flawed player moves at random.
 */
export function gridworld(options: GridworldOptions = {}): Gridworld {
  const { side = 6, walls = 7, turns = 24, criterion = "regret", seed = 1 } = options;
  const { cells, goal } = layout(side, walls, randomStream(seed).split("gridworld"));
  const free = new Set(cells);
  const next = (cell: number, move: Move): number => {
    const to = beside(cell, move, side);
    return cell === goal || to === undefined || !free.has(to) ? cell : to;
  };
  const view = (cell: number): string => `at c${cell}`;
  const steps = distances(goal, cells, next);
  const values = softValues(cells, goal, next);
  const beginnings = cells.filter((cell) => cell !== goal);
  const startOf = (task: Task): number => Number(task.metadata.start);

  /** Regret or return of a walk; an invalid move stays in place and counts as the first move. */
  function worth(task: Task, walked: Trajectory): number {
    let cell = startOf(task);
    let sum = 0;
    walked.turns.forEach(({ action }, k) => {
      const move = moveIn(action.content) ?? gridMoves[0];
      const to = next(cell, move);
      const paid = to === goal && cell !== goal ? 1 : 0;
      sum +=
        criterion === "return" ? discount ** k * paid : paid + discount * values.get(to)! - values.get(cell)!;
      cell = to;
    });
    return sum;
  }

  function start(task: Task): Episode {
    let [cell, moves] = [startOf(task), 0];
    return {
      observe: async () => ({
        role: "agent",
        observation: {
          messages: moves === 0 ? [] : [{ role: "user", content: view(cell) }],
          stateKey: view(cell),
          legal: gridMoves,
        },
      }),
      act: async ({ content }) => {
        if (moves >= turns) return alreadyOver;
        moves++;
        const move = moveIn(content);
        if (move) cell = next(cell, move);
        if (moves < turns) return {};
        const success = cell === goal;
        return {
          rewards: { outcome: success ? 1 : 0 },
          end: { kind: "done", reason: "time is up", success },
        };
      },
    };
  }

  const environment = defineEnvironment({
    name: "gridworld",
    summary: "walk to the goal of a small grid; two walks are compared by how much they gave away",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [...gridMoves, ...cells.map(view)],
    tasks: (split) =>
      (split === "train" || split === "test" ? beginnings : []).map((cell) => ({
        id: `gridworld/${split}/${cell}`,
        prompt: [{ role: "user", content: view(cell) }],
        metadata: { start: cell },
        seed: randomStream(seed).split("walk", split, cell).seed,
      })),
    start: async (task) => start(task),
    async verify(task: Task, { turns: made }: Trajectory) {
      let cell = startOf(task);
      for (const { action } of made) {
        const move = moveIn(action.content);
        if (move) cell = next(cell, move);
      }
      return { outcome: cell === goal ? 1 : 0 };
    },
    prefer: async (task: Task, first: Trajectory, second: Trajectory) =>
      sigmoid((worth(task, first) - worth(task, second)) / preferenceTemperature),
    expert: (task, conversation) => {
      let cell = startOf(task);
      for (const { role, content } of conversation) {
        const move = role === "assistant" ? moveIn(content) : undefined;
        if (move) cell = next(cell, move);
      }
      return gridMoves.reduce((a, b) => (steps.get(next(cell, b))! < steps.get(next(cell, a))! ? b : a));
    },
    flawed: (_task, _conversation, random) => gridMoves[random.below(gridMoves.length)]!,
  });
  return { ...environment, cells, goal, next, view };
}

const moveIn = (text: string): Move | undefined => gridMoves.find((move) => move === text.trim());

function beside(cell: number, move: Move, side: number): number | undefined {
  const [column, row] = [cell % side, Math.floor(cell / side)];
  const to = {
    north: [column, row - 1],
    east: [column + 1, row],
    south: [column, row + 1],
    west: [column - 1, row],
  }[move] as [number, number];
  return to.every((x) => x >= 0 && x < side) ? to[1] * side + to[0] : undefined;
}

type Next = (cell: number, move: Move) => number;

/** Free cells; redrawn until all of them can reach the goal, which is in the last corner. */
function layout(side: number, walls: number, random: Random): { cells: number[]; goal: number } {
  const goal = side * side - 1;
  for (let tried = 0; ; tried++) {
    const others = shuffled([...Array(goal).keys()], random.split(tried));
    const cells = [...others.slice(walls), goal].sort((a, b) => a - b);
    const free = new Set(cells);
    const next: Next = (cell, move) => {
      const to = beside(cell, move, side);
      return to === undefined || !free.has(to) ? cell : to;
    };
    if (distances(goal, cells, next).size === cells.length) return { cells, goal };
  }
}

/** Moves from each cell to the goal; a cell that cannot reach it is absent. */
function distances(goal: number, cells: readonly number[], next: Next): Map<number, number> {
  const steps = new Map([[goal, 0]]);
  for (let far = 1, grown = true; grown; far++) {
    const reached = cells.filter(
      (cell) => !steps.has(cell) && gridMoves.some((move) => steps.get(next(cell, move)) === far - 1),
    );
    for (const cell of reached) steps.set(cell, far);
    grown = reached.length > 0;
  }
  return steps;
}

/**
 * V*(s) = softness · ln Σ_a exp(Q*(s, a) / softness), by value iteration. The goal is a state like others, without further
 * reward: with a value of 0 there, wandering would be worth more than arriving because of its entropy.
 */
function softValues(cells: readonly number[], goal: number, next: Next): Map<number, number> {
  let values = new Map(cells.map((cell) => [cell, 0]));
  for (let sweep = 0; sweep < 400; sweep++) {
    const before = values;
    values = new Map(
      cells.map((cell) => {
        const q = gridMoves.map((move) => {
          const to = next(cell, move);
          return (to === goal && cell !== goal ? 1 : 0) + discount * before.get(to)!;
        });
        const top = Math.max(...q);
        const mass = q.reduce((sum, x) => sum + Math.exp((x - top) / softness), 0);
        return [cell, top + softness * Math.log(mass)];
      }),
    );
  }
  return values;
}
