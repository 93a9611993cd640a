/** A guard pursues a thief in two rooms with a door: skills take several turns, facts are observed, failures have reasons. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Message, Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Player, type Step } from "../../../env/environment.ts";
import { machine, type Rules } from "../../../env/machine.ts";

/** The guard's skills, one turn at a time. */
export const pursuitSkills = [
  "chase",
  "grab",
  "go-to-door",
  "go-through",
  "shut-door",
  "open-door",
  "fetch-net",
  "rest",
] as const;
export type PursuitSkill = (typeof pursuitSkills)[number];

/** The facts that the guard observes. */
export const pursuitFacts = [
  "thief-here",
  "thief-beside",
  "at-door",
  "door-shut",
  "net-here",
  "has-net",
  "tired",
] as const;
type Fact = (typeof pursuitFacts)[number];

/** A place: a room, and a cell of its 4 × 4. The rooms meet at the right edge of room 0 and the left edge of room 1. */
interface Place {
  readonly room: 0 | 1;
  readonly x: number;
  readonly y: number;
}
interface State {
  readonly guard: Place;
  readonly thief: Place;
  /** Where it lies; absent once it was taken. */
  readonly net?: Place | undefined;
  readonly shut: boolean;
  /** The guard's remaining stamina, in steps of a chase. */
  readonly breath: number;
  readonly turn: number;
  /** Result of the last skill. */
  readonly said: string;
}

const side = 4;
const doorRow = 1;
const turnLimit = 40;
const fullBreath = 6;
/** Probability that the thief stands still in a turn, and that a grab without a net succeeds. */
const pauses = 0.3;
const bareHands = 0.1;

const doorOf = (room: 0 | 1): Place => ({ room, x: room === 0 ? side - 1 : 0, y: doorRow });
const far = (a: Place, b: Place): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
const same = (a: Place, b: Place): boolean => a.room === b.room && far(a, b) === 0;

function factsOf({ guard, thief, net, shut, breath }: State): readonly Fact[] {
  const here = guard.room === thief.room;
  const holds: Readonly<Record<Fact, boolean>> = {
    "thief-here": here,
    "thief-beside": here && far(guard, thief) <= 1,
    "at-door": same(guard, doorOf(guard.room)),
    "door-shut": shut,
    "net-here": net?.room === guard.room,
    "has-net": net === undefined,
    tired: breath === 0,
  };
  return pursuitFacts.filter((fact) => holds[fact]);
}

/** Preconditions of a skill; the first unmet one is the reason of its failure. */
const needs: Readonly<Record<PursuitSkill, readonly (readonly [fact: Fact, holds: boolean])[]>> = {
  chase: [
    ["thief-here", true],
    ["tired", false],
  ],
  grab: [["thief-beside", true]],
  "go-to-door": [["at-door", false]],
  "go-through": [
    ["at-door", true],
    ["door-shut", false],
  ],
  "shut-door": [
    ["at-door", true],
    ["door-shut", false],
  ],
  "open-door": [
    ["at-door", true],
    ["door-shut", true],
  ],
  "fetch-net": [["net-here", true]],
  rest: [],
};

/** A step towards a place, along the longer way first. */
function nearer(from: Place, to: Place): Place {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  return Math.abs(dx) >= Math.abs(dy)
    ? { ...from, x: from.x + Math.sign(dx) }
    : { ...from, y: from.y + Math.sign(dy) };
}

type Done = Partial<State> & { readonly status: "success" | "running" | "failure"; readonly lacks?: string };

/** Effect of a skill whose preconditions are met. */
function does(skill: PursuitSkill, state: State, random: Random): Done & { readonly caught?: true } {
  const { guard, thief, net, breath } = state;
  const walk = (to: Place): Done => {
    const now = nearer(guard, to);
    return { guard: now, status: same(now, to) ? "success" : "running" };
  };
  switch (skill) {
    case "chase": {
      const now = far(guard, thief) <= 1 ? guard : nearer(guard, thief);
      return { guard: now, breath: breath - 1, status: far(now, thief) <= 1 ? "success" : "running" };
    }
    case "grab":
      return net === undefined || random.next() < bareHands
        ? { status: "success", caught: true }
        : { status: "failure", lacks: "has-net" };
    case "go-to-door":
      return walk(doorOf(guard.room));
    case "go-through":
      return { guard: doorOf(guard.room === 0 ? 1 : 0), status: "success" };
    case "shut-door":
    case "open-door":
      return { shut: skill === "shut-door", status: "success" };
    case "fetch-net": {
      const done = walk(net!);
      return done.status === "success" ? { ...done, net: undefined } : done;
    }
    case "rest":
      return { breath: Math.min(fullBreath, breath + 3), status: "success" };
  }
}

/** Where the thief goes: through an open door that the guard does not hold, else away from him and towards that door. */
function flees({ guard, thief, shut }: State, random: Random): Place {
  const still = random.split("still").next() < pauses;
  const luck = random.split("way");
  if (still) return thief;
  const door = doorOf(thief.room);
  const hunted = guard.room === thief.room;
  if (hunted && !shut && same(thief, door) && far(guard, thief) > 0) return doorOf(thief.room === 0 ? 1 : 0);
  const ways = [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ].map(([dx, dy]): Place => ({ room: thief.room, x: thief.x + dx!, y: thief.y + dy! }));
  const open = [thief, ...ways].filter(
    (p) => p.x >= 0 && p.y >= 0 && p.x < side && p.y < side && !(hunted && same(p, guard)),
  );
  const worth = (p: Place): number =>
    (hunted ? far(p, guard) - (shut ? 0 : 0.6 * far(p, door)) : 0) + 0.1 * luck.next();
  return open
    .map((p) => ({ p, worth: worth(p) }))
    .reduce((best, other) => (other.worth > best.worth ? other : best)).p;
}

const view = (state: State): string =>
  `${state.said}facts :${factsOf(state)
    .map((fact) => ` ${fact}`)
    .join("")}`;

const rules: Rules<State> = {
  see: (state) => ({
    messages: state.turn === 0 ? [] : [{ role: "user", content: view(state) }],
    stateKey: JSON.stringify({ ...state, said: "", turn: 0 }),
    legal: pursuitSkills,
  }),
  act(state, action, random) {
    const turn = state.turn + 1;
    const skill = pursuitSkills.find((name) => name === action);
    const facts: readonly Fact[] = factsOf(state);
    const lack = skill && needs[skill].find(([fact, holds]) => facts.includes(fact) !== holds);
    const lacks = lack && (lack[1] ? lack[0] : `not ${lack[0]}`);
    const {
      caught,
      status,
      lacks: why = lacks,
      ...changed
    } = skill && !lack
      ? does(skill, state, random.split("luck"))
      : { status: "failure" as const, caught: undefined, lacks: undefined };
    const reason = why === undefined ? "" : `lacks ${why} ; `;
    const said = skill ? `${skill} : ${status} ; ${reason}` : "no such skill ; ";
    const next: State = { ...state, ...changed, turn, said };
    const outcome = (value: 0 | 1, end: Step["end"] & object) => ({ next, rewards: { outcome: value }, end });
    if (caught) return outcome(1, { kind: "done", reason: "caught", success: true });
    if (turn >= turnLimit) return outcome(0, { kind: "truncated", limit: "turns", at: turn });
    const text = status === "failure" ? { text: said.slice(0, -3) } : {};
    return { next: { ...next, thief: flees(next, random.split("thief")) }, ...text };
  },
};

const placed = (random: Random): Place => ({
  room: random.below(2) === 0 ? 0 : 1,
  x: random.below(side),
  y: random.below(side),
});

function beginningOf({ seed }: Pick<Task, "seed">): State {
  const random = randomStream(seed).split("begin");
  const thief = placed(random.split("thief"));
  const net = placed(random.split("net"));
  const guard = placed(random.split("guard"));
  return { guard, thief, net, shut: false, breath: fullBreath, turn: 0, said: "" };
}

const factsSeen = (conversation: readonly Message[]): ReadonlySet<string> =>
  new Set(
    (conversation.findLast(({ role }) => role === "user")?.content ?? "").split("facts :")[1]?.split(" "),
  );

/** Fetches the net, shuts itself in with the thief, and wears him down. */
const expert: Player = (_task, conversation) => {
  const facts = factsSeen(conversation);
  const is = (fact: Fact): boolean => facts.has(fact);
  if (is("thief-beside") && is("has-net")) return "grab";
  const wrongRoom = is("has-net") ? !is("thief-here") : !is("net-here");
  if (wrongRoom) {
    if (!is("at-door")) return "go-to-door";
    return is("door-shut") ? "open-door" : "go-through";
  }
  if (!is("has-net")) return "fetch-net";
  if (is("at-door") && !is("door-shut")) return "shut-door";
  return is("tired") ? "rest" : "chase";
};

/** Knows no nets: runs after the thief and grabs with bare hands. */
const flawed: Player = (_task, conversation) => {
  const facts = factsSeen(conversation);
  if (facts.has("thief-beside")) return "grab";
  if (facts.has("thief-here")) return facts.has("tired") ? "rest" : "chase";
  return facts.has("at-door") ? "go-through" : "go-to-door";
};

/** Plays a list of actions or a player that sees the messages; returns whether the thief was caught, and when. */
function pursued(
  task: Task,
  player: (view: readonly Message[], turn: number) => string | undefined,
): boolean {
  const random = randomStream(task.seed);
  let state = beginningOf(task);
  for (let turn = 0; turn < turnLimit; turn++) {
    const action = player([{ role: "user", content: view(state) }], turn);
    if (action === undefined) return false;
    const { next, end } = rules.act(state, action.trim(), random.split("turn", turn));
    if (end) return end.kind === "done";
    state = next;
  }
  return false;
}

const sizes: Readonly<Record<string, number>> = { train: 100, validation: 50, test: 100 };

/** Initial states from which the expert catches the thief in time. */
function makeTasks(split: string): readonly Task[] {
  const tasks: Task[] = [];
  for (let tried = 0; tasks.length < (sizes[split] ?? 0); tried++) {
    const { seed } = randomStream("pursuit").split(split, tried);
    const id = `pursuit/${split}/${tasks.length}`;
    const prompt: readonly Message[] = [{ role: "user", content: view(beginningOf({ seed })) }];
    const task: Task = { id, prompt, metadata: {}, seed };
    if (pursued(task, (seen) => expert(task, seen, randomStream(seed)))) tasks.push(task);
  }
  return tasks;
}

/**
 * Two rooms of 4 × 4 cells with a door, a guard, a thief who flees when the guard is in his room, and a net. Each turn is
 * one skill with the result success, failure or running; a failure names the missing fact, as in
 * `grab : failure ; lacks has-net ; facts : thief-here thief-beside`. Catching the thief within 40 turns has reward 1. A
 * grab always succeeds with the net, and one in ten without it. Random draws depend only on the task's seed and the turn
 * number, so that any two policies can be compared on the same draws.
 */
export function pursuit(): Environment {
  const made = new Map<string, readonly Task[]>();
  const tasksOf = (split: string): readonly Task[] => {
    if (!made.has(split)) made.set(split, makeTasks(split));
    return made.get(split)!;
  };
  return defineEnvironment({
    name: "pursuit",
    summary: "catch a thief in two rooms with skills that go on for turns; what failed says what it lacked",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns: turnLimit, actionTokens: 1 },
    vocabulary: () => [
      ...pursuitSkills,
      ...pursuitFacts,
      "facts : ; success failure running lacks not no such skill",
    ],
    tasks: tasksOf,
    expert,
    flawed,
    start: async (task) => machine(rules, beginningOf(task), randomStream(task.seed)),
    verify: async (task: Task, trajectory: Trajectory) => {
      const { turns } = trajectory;
      const caught = pursued(task, (_seen, turn) => turns[turn]?.action.content);
      return { outcome: caught ? 1 : 0 };
    },
  });
}
