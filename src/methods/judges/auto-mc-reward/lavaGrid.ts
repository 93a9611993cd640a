/** An open grid with lava and a diamond. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Turn } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { beside, directions, distances, type Grid } from "../../../env/grids.ts";
import { machine } from "../../../env/machine.ts";
import type { Fields } from "./rewardCode.ts";

/** Settings of {@link lavaGrid}. */
export interface LavaGridOptions {
  /** Cells along each side. Default 12. */
  readonly side?: number;
  /** Cells with lava. Default 12. */
  readonly lava?: number;
  /** Steps, without the last action of an attempt that reached lava or diamond. Default 40. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

interface State {
  readonly cell: number;
  readonly turn: number;
}

const startCount = 4;

/**
 * One grid, in which every task begins in another cell, far from the diamond. What is seen is where the agent stands, where the diamond lies and how many
 * of the four neighbours are lava: "row 2 column 3 diamond 6 7 lava 1 on ground". A step out of the grid changes nothing. Who stands in lava or on the
 * diamond sees it, and the next action, whatever it is, ends the attempt: `outcome` is 1 on the diamond, else 0. Deterministic.
 */
export function lavaGrid({ side = 12, lava = 12, turns = 40, seed = 1 }: LavaGridOptions = {}): Environment {
  const { diamond, hot, starts, left } = layout(side, lava, seed);
  const on = (cell: number): string => (cell === diamond ? "diamond" : hot.has(cell) ? "lava" : "ground");
  const at = (cell: number): readonly [number, number] => [Math.floor(cell / side), cell % side];
  const see = (cell: number): string => {
    const near = directions.filter((d) => hot.has(beside(cell, d, side) ?? -1)).length;
    const [row, column] = at(cell);
    return `row ${row} column ${column} diamond ${at(diamond).join(" ")} lava ${near} on ${on(cell)}`;
  };
  const taskAt = (cell: number): Task => ({
    id: `lava-grid/${cell}`,
    prompt: [{ role: "user", content: see(cell) }],
    metadata: { start: cell },
    seed: randomStream("lava grid").split(seed, cell).seed,
  });
  const stepped = ({ cell, turn }: State, action: string): State => {
    const direction = directions.find((name) => name === action);
    return { cell: (direction && beside(cell, direction, side)) ?? cell, turn: turn + 1 };
  };
  return defineEnvironment({
    name: "lava-grid",
    summary: "walk to a diamond past lava",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: turns + 1, actionTokens: 1 },
    vocabulary: () => [
      "row column diamond lava on ground",
      directions.join(" "),
      ...Array.from({ length: Math.max(side, 5) }, (_, i) => String(i)),
    ],
    tasks: (split) => (split === "train" ? starts.map(taskAt) : []),
    expert: (_task, conversation) => {
      const [, row, , column] = (conversation.at(-1)?.content ?? "").split(" ");
      const cell = Number(row) * side + Number(column);
      const nearer = (d: (typeof directions)[number]): boolean => {
        const next = beside(cell, d, side);
        return next !== undefined && left[next]! < left[cell]!;
      };
      return directions.find(nearer) ?? directions[0];
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: ({ cell, turn }) => ({
            messages: turn === 0 ? [] : [{ role: "user", content: see(cell) }],
            stateKey: see(cell),
            legal: directions,
          }),
          act: (state, action) => {
            if (on(state.cell) !== "ground") {
              const success = state.cell === diamond;
              const reason = success ? "took the diamond" : "fell into lava";
              return {
                next: state,
                rewards: { outcome: Number(success) },
                end: { kind: "done", reason, success },
              };
            }
            const next = stepped(state, action);
            if (next.turn < turns || (next.turn === turns && on(next.cell) !== "ground")) return { next };
            return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turns } };
          },
        },
        { cell: Number(task.metadata.start), turn: 0 },
        random,
      ),
    verify: async (task, { turns: made }) => {
      let state: State = { cell: Number(task.metadata.start), turn: 0 };
      for (const { action } of made)
        if (on(state.cell) === "ground") state = stepped(state, action.content.trim());
      return { outcome: state.cell === diamond && state.turn <= turns ? 1 : 0 };
    },
  });
}

/** Draws lava, diamond and starts until each start has a way around the lava. */
function layout(side: number, lava: number, seed: number) {
  for (let tried = 0; ; tried++) {
    const cells = Array.from({ length: side * side }, (_, cell) => cell);
    const [diamond = 0, ...rest] = shuffled(cells, randomStream("lava grid").split(seed, "try", tried));
    const hot = new Set(rest.slice(0, lava));
    const open = cells.map((cell) =>
      hot.has(cell)
        ? []
        : directions.filter((d) => {
            const next = beside(cell, d, side);
            return next !== undefined && !hot.has(next);
          }),
    );
    const grid: Grid = { side, open };
    const left = distances(grid, diamond);
    const starts = rest
      .slice(lava)
      .filter((cell) => left[cell]! >= side)
      .slice(0, startCount);
    if (starts.length === startCount && starts.every((cell) => Number.isFinite(left[cell])))
      return { diamond, hot, starts, left };
  }
}

/** What reward code may see of the grid. */
export function gridFields({ prompt }: Turn): Fields {
  const [, row, , column, , diamondRow, diamondColumn, , lavaNear, , on] = (
    prompt.at(-1)?.content ?? ""
  ).split(" ");
  return {
    row: Number(row),
    column: Number(column),
    diamondRow: Number(diamondRow),
    diamondColumn: Number(diamondColumn),
    lavaNear: Number(lavaNear),
    on: on ?? "",
  };
}
