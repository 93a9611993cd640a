/** A grid with a key and a door: fetch the key, then go to the door. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { defineEnvironment, type Environment } from "./environment.ts";
import { carved, directions, distances, type Grid, stepped } from "./grids.ts";
import { machine } from "./machine.ts";

/** Settings of {@link keyGrid}. */
export interface KeyGridOptions {
  /** Cells along each side. Default 6. */
  readonly side?: number;
  /** Number of random walls to open beyond a spanning tree. Default: one per cell. */
  readonly loops?: number;
  /** Default 40. */
  readonly turns?: number;
  /** Seed of walls, key and door. Default 1. */
  readonly seed?: number;
}

interface State {
  readonly cell: number;
  readonly key: boolean;
  readonly turn: number;
}

/**
 * One grid, in which every task begins in another cell; half of the cells are for training, the others for the test.
 * Entering the key's cell takes the key; entering the door's cell with it ends the episode and pays 1 (`outcome`). The
 * observation is the position and whether the agent has the key, which is the whole state. A step into a wall changes
 * nothing. Deterministic. The flawed player takes every second step at random.
 */
export function keyGrid(options: KeyGridOptions = {}): Environment {
  const { side = 6, loops = side * side, turns = 40, seed = 1 } = options;
  const { grid, key, door, starts } = layout(side, loops, turns, randomStream("key grid").split(seed));
  const toKey = distances(grid, key);
  const toDoor = distances(grid, door);
  const see = ({ cell, key: has }: Omit<State, "turn">): string =>
    `row ${Math.floor(cell / side)} column ${cell % side} key ${has ? "yes" : "no"}`;
  const enter = (cell: number, has: boolean) => ({ cell, key: has || cell === key });
  const best = (seen: string): string => {
    const [, row, , column, , has] = seen.split(" ");
    const cell = Number(row) * side + Number(column);
    const left = has === "yes" ? toDoor : toKey;
    return directions.find((d) => left[stepped(grid, cell, d) ?? cell]! < left[cell]!) ?? directions[0];
  };
  const taskAt = (split: string, cell: number): Task => ({
    id: `key-grid/${split}/${cell}`,
    prompt: [{ role: "user", content: see(enter(cell, false)) }],
    metadata: { start: cell },
    seed: randomStream("key grid").split(seed, split, cell).seed,
  });
  const start = (task: Task): State => ({ ...enter(Number(task.metadata.start), false), turn: 0 });
  const after = (state: State, action: string): State => {
    const to = directions.find((d) => d === action);
    const cell = (to && stepped(grid, state.cell, to)) ?? state.cell;
    return { ...enter(cell, state.key), turn: state.turn + 1 };
  };
  const arrived = ({ cell, key: has }: State): boolean => has && cell === door;
  return defineEnvironment({
    name: "key-grid",
    summary: "fetch the key in a small grid with walls, then go to the door",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [
      "row column key yes no",
      directions.join(" "),
      ...Array.from({ length: side }, (_, i) => String(i)),
    ],
    tasks: (split) => {
      const half = Math.ceil(starts.length / 2);
      const own = split === "train" ? starts.slice(0, half) : split === "test" ? starts.slice(half) : [];
      return own.map((cell) => taskAt(split, cell));
    },
    expert: (_task, conversation) => best(conversation.at(-1)?.content ?? ""),
    flawed: (_task, conversation, random) => {
      const stream = random.split("turn", conversation.length);
      return stream.next() < 0.5
        ? directions[stream.below(directions.length)]!
        : best(conversation.at(-1)?.content ?? "");
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: (state) => ({
            messages: state.turn === 0 ? [] : [{ role: "user", content: see(state) }],
            stateKey: see(state),
            legal: directions,
          }),
          act: (state, action) => {
            const next = after(state, action);
            if (arrived(next))
              return {
                next,
                rewards: { outcome: 1 },
                end: { kind: "done", reason: "opened", success: true },
              };
            if (next.turn < turns) return { next };
            return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turns } };
          },
        },
        start(task),
        random,
      ),
    verify: async (task, { turns: made }) => {
      let state = start(task);
      for (const { action } of made) if (!arrived(state)) state = after(state, action.content.trim());
      return { outcome: arrived(state) && state.turn <= turns ? 1 : 0 };
    },
  });
}

/** Draws walls, key and door until every task can be solved within the turn limit. */
function layout(side: number, loops: number, turns: number, random: Random) {
  for (let tried = 0; ; tried++) {
    const stream = random.split("try", tried);
    const grid: Grid = carved(side, loops, stream);
    const [key, door, ...starts] = shuffled([...grid.open.keys()], stream);
    const toKey = distances(grid, key!);
    const longest = Math.max(...starts.map((cell) => toKey[cell]!)) + toKey[door!]!;
    if (longest <= turns) return { grid, key: key!, door: door!, starts };
  }
}
