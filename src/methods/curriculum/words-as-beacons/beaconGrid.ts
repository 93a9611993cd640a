/** Open rooms with a key, a door and a goal, another room in every task. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { beside, directions, towards } from "../../../env/grids.ts";
import { machine } from "../../../env/machine.ts";

/** Settings of {@link beaconGrid}. */
export interface BeaconGridOptions {
  /** Cells along each side. Default 5. */
  readonly side?: number;
  /** Default 30. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

interface State {
  readonly cell: number;
  readonly held: boolean;
  readonly open: boolean;
  readonly turn: number;
}

const things = ["key", "door", "goal"] as const;
const compass = ["here", "n", "ne", "e", "se", "s", "sw", "w", "nw"] as const;

/** Where a cell lies as seen from another: one of eight directions, or here. */
export const bearing = (from: number, to: number, side: number): string =>
  towards(from, to, side)
    .toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
    .map((direction) => direction[0])
    .join("") || "here";
const order = ["north", "south", "east", "west"];

/**
 * Entering the key's cell takes the key, entering the door's cell with it opens the door, and entering the goal's cell after that
 * pays `outcome` 1 and ends the episode. An observation says where the things lie: "key ne door held goal s" with "held" for the
 * key and "open" for the door once that is so. A task lists its subgoals in `metadata.subgoals`. Deterministic.
 */
export function beaconGrid({ side = 5, turns = 30, seed = 1 }: BeaconGridOptions = {}): Environment {
  const placesOf = (task: Task): Readonly<Record<(typeof things)[number], number>> =>
    task.metadata.places as { key: number; door: number; goal: number };
  const see = (task: Task, { cell, held, open }: Omit<State, "turn">): string => {
    const { key, door, goal } = placesOf(task);
    const of = (place: number): string => bearing(cell, place, side);
    return `key ${held ? "held" : of(key)} door ${open ? "open" : of(door)} goal ${of(goal)}`;
  };
  const entered = (task: Task, cell: number, before: Omit<State, "turn" | "cell">): Omit<State, "turn"> => {
    const { key, door } = placesOf(task);
    const held = before.held || cell === key;
    return { cell, held, open: before.open || (held && cell === door) };
  };
  const begin = (task: Task): State => ({
    cell: Number(task.metadata.start),
    held: false,
    open: false,
    turn: 0,
  });
  const next = (task: Task, state: State, action: string): State => {
    const direction = directions.find((name) => name === action);
    const cell = (direction && beside(state.cell, direction, side)) ?? state.cell;
    return { ...entered(task, cell, state), turn: state.turn + 1 };
  };
  const isDone = (task: Task, { cell, open }: State): boolean => open && cell === placesOf(task).goal;
  const taskAt = (split: string, index: number): Task => {
    const random = randomStream(seed).split("room", split, index);
    const [start, key, door, goal] = shuffled(
      Array.from({ length: side * side }, (_, cell) => cell),
      random,
    );
    const metadata = {
      start: start!,
      places: { key: key!, door: door!, goal: goal! },
      subgoals: [
        { say: "key", sign: "key held" },
        { say: "door", sign: "door open" },
        { say: "goal", sign: "at the goal" },
      ],
    };
    const task: Task = { id: `beacon-grid/${split}/${index}`, prompt: [], metadata, seed: random.seed };
    return { ...task, prompt: [{ role: "user", content: see(task, begin(task)) }] };
  };
  return defineEnvironment({
    name: "beacon-grid",
    summary: "fetch a key, open a door and go to a goal, in another room every time",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns, actionTokens: 1 },
    vocabulary: () => ["held open", things.join(" "), compass.join(" "), directions.join(" ")],
    tasks: (split) =>
      split === "train" || split === "test" ? Array.from({ length: 64 }, (_, i) => taskAt(split, i)) : [],
    expert: (_task, conversation) => {
      const seen = conversation.findLast(({ content }) => content.startsWith("key "))?.content ?? "";
      const [, key, , door, , goal] = seen.split(" ");
      const to = key !== "held" ? key : door !== "open" ? door : goal;
      return directions.find((name) => to?.includes(name[0]!)) ?? "north";
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: (state) => ({
            messages: state.turn === 0 ? [] : [{ role: "user", content: see(task, state) }],
            stateKey: see(task, state),
            legal: directions,
          }),
          act: (state, action) => {
            const after = next(task, state, action);
            if (isDone(task, after))
              return {
                next: after,
                rewards: { outcome: 1 },
                end: { kind: "done", reason: "at the goal", success: true },
              };
            return after.turn < turns
              ? { next: after }
              : {
                  next: after,
                  rewards: { outcome: 0 },
                  end: { kind: "truncated", limit: "turns", at: turns },
                };
          },
        },
        begin(task),
        random,
      ),
    verify: async (task, { turns: made }) => {
      let state = begin(task);
      for (const { action } of made)
        if (!isDone(task, state)) state = next(task, state, action.content.trim());
      return { outcome: isDone(task, state) && state.turn <= turns ? 1 : 0 };
    },
  });
}

/**
 * A linear policy: it sees where each thing lies, by what it holds and has opened, and, where a subgoal names a thing, where that
 * lies, in one row for all things.
 */
export const gridPolicy = {
  context: 24,
  features: (context: readonly string[]) => {
    const door = context.findLastIndex((word, i) => word === "door" && context[i - 2] === "key");
    const seen = { key: context[door - 1], door: context[door + 1], goal: context[door + 3] };
    const stage = seen.key !== "held" ? "no key" : seen.door !== "open" ? "closed" : "open";
    const own = things.map((thing) => `${stage} ${thing} ${seen[thing]}`);
    const told = context.lastIndexOf("subgoal");
    const named = things.find((thing) => told > door && thing === context[told + 2]);
    return named === undefined ? own : [...own, `named ${seen[named]}`];
  },
  prior: (_context: readonly string[], word: string) => (directions.some((name) => name === word) ? 0 : -1e9),
} as const;
