/** Household navigation: the agent sees only the room that it is in, and has to find a thing and bring it to another room. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Message, Task } from "../core/types.ts";
import { demand, isWhole } from "./demand.ts";
import {
  defineEnvironment,
  type Environment,
  type Observation,
  type Player,
  type Step,
} from "./environment.ts";
import { carved, type Direction, directions, distances, type Grid, stepped } from "./grids.ts";
import { machine, type Rules } from "./machine.ts";

/** Settings of {@link textNavigation}. */
export interface TextNavigationOptions {
  /** Rooms along each side of the house, 2 or 3. Default 3. */
  readonly side?: number;
  /** Number of things, 1 to 8, one of which is the wanted one. Default 3. */
  readonly things?: number;
  /** Action limit of an episode. Default 40. */
  readonly turns?: number;
  /** Seed of the houses. Default 1. */
  readonly seed?: number;
}

const roomNames = ["kitchen", "cellar", "attic", "study", "hall", "bedroom", "pantry", "bathroom", "library"];
const thingNames = ["apple", "lamp", "book", "key", "cup", "rope", "coin", "hat"];

interface House extends Grid {
  /** Names, by cell. */
  readonly rooms: readonly string[];
  readonly things: readonly { readonly name: string; readonly cell: number }[];
  readonly start: number;
  /** Target room of the first thing. */
  readonly target: number;
}
const houseOf = (task: Task): House => task.metadata as unknown as House;

interface State {
  readonly cell: number;
  readonly turn: number;
  readonly carried: string | undefined;
  /** Cells of the things that are not carried, by name. */
  readonly lying: Readonly<Record<string, number>>;
}

const beginning = ({ start, things }: House): State => ({
  cell: start,
  turn: 0,
  carried: undefined,
  lying: Object.fromEntries(things.map(({ name, cell }) => [name, cell])),
});

const here = ({ lying, cell }: State): string[] => Object.keys(lying).filter((name) => lying[name] === cell);

function view({ rooms, open }: House, state: State): string {
  const { cell, carried } = state;
  return `in the ${rooms[cell]} ; ways : ${open[cell]!.join(" ")} ; here : ${here(state).join(" ") || "nothing"} ; carried : ${carried ?? "nothing"}`;
}

const legalIn = (house: House, state: State): readonly string[] => [
  ...house.open[state.cell]!.map((d) => `go ${d}`),
  ...(state.carried === undefined ? here(state).map((name) => `take ${name}`) : [`drop ${state.carried}`]),
];

/** The state after an action, or the reason why it is impossible. */
function changed(house: House, state: State, action: string): Omit<State, "turn"> | string {
  const { cell, carried, lying } = state;
  const [verb, word = "", ...rest] = action.trim().toLowerCase().split(/\s+/);
  if (rest.length > 0) return complaints.unknown;
  switch (verb) {
    case "go": {
      const d = directions.find((direction) => direction === word);
      const to = d && stepped(house, cell, d);
      return to === undefined ? complaints.go : { cell: to, carried, lying };
    }
    case "take": {
      if (!Object.hasOwn(lying, word) || lying[word] !== cell) return complaints.take;
      if (carried !== undefined) return complaints.full;
      const { [word]: _, ...others } = lying;
      return { cell, carried: word, lying: others };
    }
    case "drop":
      if (carried === undefined || carried !== word) return complaints.drop;
      return { cell, carried: undefined, lying: { ...lying, [word]: cell } };
    default:
      return complaints.unknown;
  }
}

const complaints = {
  go: "there is no way in that direction",
  take: "that is not here",
  full: "first drop what you carry",
  drop: "you do not carry that",
  unknown: "use go , take or drop and one word",
};

const isDone = ({ things, target }: House, { lying }: Pick<State, "lying">): boolean =>
  lying[things[0]!.name] === target;

/**
 * The prompt gives the goal and the first observation: `bring the apple to the cellar . in the hall ; ways : …`. Actions are
 * `go north`, `take apple`, `drop apple`; the agent can carry one thing at a time. It has to explore the house to find the
 * thing and the room. Rewards: `cost`, −1 for every action that does not finish, and at the end `outcome`. The text says
 * why an action is impossible. The expert knows the house; the flawed player walks at random, takes the thing if it finds
 * it, and drops it in the target room.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 * @throws WhetstoneError `option.range`.
 */
export function textNavigation(options: TextNavigationOptions = {}): Environment {
  const { side = 3, things = 3, turns = 40, seed = 1 } = options;
  demand(isWhole(side, 2, 3), "textNavigation: side", side, "2 or 3");
  demand(isWhole(things, 1, 8), "textNavigation: things", things, "a whole number from 1 to 8");

  const rules = (house: House, id: string): Rules<State> => ({
    see: (state): Observation => ({
      messages: state.turn === 0 ? [] : [{ role: "user", content: view(house, state) }],
      stateKey: `${id} ${state.cell} ${state.carried} ${JSON.stringify(state.lying)}`,
      legal: legalIn(house, state),
    }),
    act(state, action): Step & { readonly next: State } {
      const made = changed(house, state, action);
      const next = { ...(typeof made === "string" ? state : made), turn: state.turn + 1 };
      if (isDone(house, next))
        return { next, rewards: { outcome: 1 }, end: { kind: "done", reason: "brought", success: true } };
      const over = next.turn >= turns;
      return {
        next,
        rewards: { cost: -1, ...(over && { outcome: 0 }) },
        ...(typeof made === "string" && { text: made }),
        ...(over && { end: { kind: "truncated", limit: "turns", at: next.turn } }),
      };
    },
  });

  const taskAt = (split: string, index: number): Task => {
    const random = randomStream(seed).split("text navigation", split, index);
    const house = makeHouse(side, things, random);
    const wanted = `bring the ${house.things[0]!.name} to the ${house.rooms[house.target]}`;
    return {
      id: `text-navigation/${split}/${index}`,
      prompt: [{ role: "user", content: `${wanted} . ${view(house, beginning(house))}` }],
      metadata: { ...house, things: house.things.map((thing) => ({ ...thing })) },
      seed: random.seed,
    };
  };

  return defineEnvironment({
    name: "text-navigation",
    summary:
      "find a thing in a house of rooms, seeing only the one you are in, and bring it where it is wanted",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns, actionTokens: 3 },
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task, random) => machine(rules(houseOf(task), task.id), beginning(houseOf(task)), random),
    vocabulary: () => [
      `go take drop ; . bring to nothing in the ways here carried : ${directions.join(" ")}`,
      ...roomNames,
      ...thingNames,
      ...Object.values(complaints),
    ],
    expert,
    flawed,
    async verify(task, trajectory) {
      const actions = trajectory.turns.slice(0, turns).map((t) => t.action.content);
      return { outcome: isDone(houseOf(task), after(houseOf(task), actions)) ? 1 : 0 };
    },
  });
}

const sizes: Readonly<Record<string, number>> = { train: 300, validation: 50, test: 100 };

/** A random house; the first thing is never in its target room. */
function makeHouse(side: number, things: number, random: Random): House {
  const grid = carved(side, 2, random);
  const [target, away, start] = shuffled([...grid.open.keys()], random);
  return {
    ...grid,
    rooms: shuffled(roomNames, random).slice(0, side * side),
    things: shuffled(thingNames, random)
      .slice(0, things)
      .map((name, i) => ({ name, cell: i === 0 ? away! : random.below(side * side) })),
    start: start!,
    target: target!,
  };
}

/** The state after these actions; later actions change nothing once the task is done. */
const after = (house: House, actions: readonly string[]): State =>
  actions.reduce((state, action) => {
    if (isDone(house, state)) return state;
    const made = changed(house, state, action);
    return typeof made === "string" ? state : { ...made, turn: state.turn + 1 };
  }, beginning(house));

const actionsIn = (conversation: readonly Message[]): string[] =>
  conversation.flatMap((m) => (m.role === "assistant" ? [m.content] : []));

/** The action on the wanted thing in this room, or the cell to go to. */
function errand(house: House, { cell, carried, lying }: State): string | { readonly goal: number } {
  const wanted = house.things[0]!.name;
  if (carried === wanted) return cell === house.target ? `drop ${wanted}` : { goal: house.target };
  if (lying[wanted] !== cell) return { goal: lying[wanted]! };
  return carried === undefined ? `take ${wanted}` : `drop ${carried}`;
}

const expert: Player = (task, conversation) => {
  const house = houseOf(task);
  const state = after(house, actionsIn(conversation));
  const next = errand(house, state);
  if (typeof next === "string") return next;
  const far = distances(house, next.goal);
  const distance = (d: Direction): number => far[stepped(house, state.cell, d)!]!;
  return `go ${house.open[state.cell]!.reduce((a, b) => (distance(b) < distance(a) ? b : a))}`;
};

const flawed: Player = (task, conversation, random) => {
  const house = houseOf(task);
  const state = after(house, actionsIn(conversation));
  const next = errand(house, state);
  const ways = house.open[state.cell]!;
  return typeof next === "string" ? next : `go ${ways[random.below(ways.length)]}`;
};
