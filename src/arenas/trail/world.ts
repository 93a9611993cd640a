/** The world of the arena "trail": at every junction a landmark says which way to go, and where one wants to be changes what it says. */
import { type Random, randomStream, shuffled } from "../../core/random.ts";
import type { Task, Trajectory } from "../../core/types.ts";
import { critiqueWords, type Part, type Review, templated, wholeAction } from "../../env/critiques.ts";
import { defineEnvironment, type Environment, type Player, type Step } from "../../env/environment.ts";
import { machine } from "../../env/machine.ts";

export const landmarks = "pine oak rock brook bridge fence cairn mill post stump well barn".split(" ");
export const places = ["lake", "peak", "town"];
export const ways = ["left", "right", "straight"];

/** Junctions of a trail, and moves within which it has to be walked. */
export const junctions = 7;
export const turnLimit = 12;

/** Metadata of a task. */
export interface Trail {
  readonly to: string;
  /** By junction. */
  readonly landmarks: readonly string[];
}

/** Where the walker stands. A wrong way is a dead end: it costs a move. */
export interface Walk {
  readonly junction: number;
  readonly turn: number;
  readonly atDeadEnd: boolean;
}

/** The same in all trails: what a landmark says to those who want to be at a place. */
const signs: ReadonlyMap<string, string> = new Map(
  places.flatMap((to) => landmarks.map((mark) => [`${to} ${mark}`, drawnWay("sign", to, mark)])),
);

function drawnWay(...of: readonly string[]): string {
  return ways[
    randomStream("trail")
      .split(...of)
      .below(ways.length)
  ]!;
}

/** Behind the last junction every way is as good. */
export const rightWay = ({ to, landmarks: marks }: Trail, junction: number): string =>
  signs.get(`${to} ${marks[junction]}`) ?? ways[0]!;

const beginning: Walk = { junction: 0, turn: 0, atDeadEnd: false };

function after(trail: Trail, walk: Walk, action: string): Walk {
  const turn = walk.turn + 1;
  if (walk.junction === junctions || action !== rightWay(trail, walk.junction))
    return { ...walk, turn, atDeadEnd: true };
  return { junction: walk.junction + 1, turn, atDeadEnd: false };
}

const tidy = (content: string): string => content.trim().toLowerCase();
const actionsOf = ({ turns }: Trajectory): readonly string[] =>
  turns.slice(0, turnLimit).map(({ action }) => tidy(action.content));
const walked = (trail: Trail, actions: readonly string[]): Walk =>
  actions.reduce((walk, action) => after(trail, walk, action), beginning);

const view = (trail: Trail, { junction, atDeadEnd }: Walk): string =>
  `${atDeadEnd ? "back " : ""}${trail.landmarks[junction]!}`;

function act(trail: Trail, walk: Walk, action: string): Step & { readonly next: Walk } {
  const next = after(trail, walk, tidy(action));
  const success = next.junction === junctions;
  if (success) return { next, rewards: { outcome: 1 }, end: { kind: "done", reason: "arrived", success } };
  if (next.turn < turnLimit) return { next };
  return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turnLimit } };
}

const expert: Player<Trail> = ({ metadata: trail }, conversation) =>
  rightWay(trail, walked(trail, said(conversation)).junction);

const said = (conversation: Parameters<Player>[1]): readonly string[] =>
  conversation.flatMap((m) => (m.role === "assistant" ? [tidy(m.content)] : []));

/** Of the signs, the share that the flawed player reads wrongly, always in the same way; and how often it goes anywhere. */
const flaws = { misread: 0.4, astray: 0.1 };

/** Whether the flawed player misreads a landmark on the way to a place. */
export const misreads = (to: string, mark: string): boolean =>
  randomStream("trail").split("misread", to, mark).next() < flaws.misread;

const flawed: Player<Trail> = (task, conversation, stream) => {
  const random = stream.split("turn", conversation.length);
  const trail = task.metadata;
  const actions = said(conversation);
  const { junction, atDeadEnd } = walked(trail, actions);
  const right = rightWay(trail, junction);
  const wrong = ways.filter((way) => way !== right);
  if (atDeadEnd || random.next() < flaws.astray) {
    // another way than the last one
    const others = ways.filter((way) => !atDeadEnd || way !== actions.at(-1));
    return others[random.below(others.length)]!;
  }
  const mark = trail.landmarks[junction]!;
  if (!misreads(trail.to, mark)) return right;
  return wrong[randomStream("trail").split("wrong", trail.to, mark).below(wrong.length)]!;
};

function review({ metadata: trail }: Task<Trail>, trajectory: Trajectory): Review {
  let walk = beginning;
  const parts = actionsOf(trajectory).map((action, turn): Part => {
    const better = rightWay(trail, walk.junction);
    walk = after(trail, walk, action);
    return {
      ...wholeAction(turn, trajectory.turns[turn]!.action.content),
      good: action === better,
      name: `step ${turn + 1}`,
      better,
      worse: ways.filter((way) => way !== better && way !== action),
    };
  });
  const direct = parts.every(({ good }) => good) ? "success" : "inefficient";
  return { outcome: walk.junction === junctions ? direct : "failure", parts };
}

const sizes: Readonly<Record<string, number>> = { train: 2000, validation: 100, test: 200 };

/** Splits of a trail by what stands at its first three junctions, so that no trail begins like one of another split. */
function splitOf(to: string, marks: readonly string[]): string {
  const share = randomStream("trail")
    .split("split", to, ...marks.slice(0, 3))
    .next();
  return share < 0.8 ? "train" : share < 0.87 ? "validation" : "test";
}

function drawTrail(split: string, random: Random): Trail {
  for (let tried = 0; ; tried++) {
    const own = random.split(tried);
    const to = places[own.below(places.length)]!;
    const marks = shuffled(landmarks, own).slice(0, junctions);
    if (splitOf(to, marks) === split) return { to, landmarks: marks };
  }
}

/**
 * The prompt names a place and the first landmark: `to lake . pine`. An action is `left`, `right` or `straight`. What a landmark says
 * about the way depends on the place, is the same in all trails and has to be learnt. The right way leads to the next landmark, a
 * wrong one back to the same (`back pine`). The end of seven junctions has to be reached within twelve moves; `outcome` says at the end
 * whether it was. Nothing is paid before. States are equal (`stateKey`) at the same junction of a task.
 */
export function trails(): Environment {
  const made = new Map<string, readonly Task<Trail>[]>();
  const taskAt = (split: string, index: number): Task<Trail> => {
    const trail = drawTrail(split, randomStream("trail").split(split, index));
    return {
      id: `trail/${split}/${index}`,
      prompt: [{ role: "user", content: `to ${trail.to} . ${view(trail, beginning)}` }],
      reference: trail.landmarks.map((_, i) => rightWay(trail, i)).join(" "),
      metadata: trail,
      seed: index,
    };
  };
  return defineEnvironment<Trail>({
    name: "trail",
    summary: "walk a trail of seven junctions, at which landmarks say the way",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns: turnLimit, actionTokens: 2 },
    tasks(split) {
      const tasks = made.get(split) ?? Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i));
      made.set(split, tasks);
      return tasks;
    },
    start: async ({ id, metadata: trail }, random) =>
      machine<Walk>(
        {
          see: (walk) => ({
            messages: walk.turn === 0 ? [] : [{ role: "user", content: view(trail, walk) }],
            stateKey: `${id} ${walk.junction}`,
            legal: ways,
          }),
          act: (walk, action) => act(trail, walk, action),
        },
        beginning,
        random,
      ),
    vocabulary: () => ["to . back", ...landmarks, ...places, ...ways, ...critiqueWords(turnLimit)],
    expert,
    flawed,
    critique: async (task, trajectory, request) => templated(review(task, trajectory), request),
    async prefer({ metadata: trail }, first, second) {
      const [a, b] = [first, second].map((t) => walked(trail, actionsOf(t)));
      const ahead = a!.junction - b!.junction || b!.turn - a!.turn;
      return ahead === 0 ? 0.5 : ahead > 0 ? 1 : 0;
    },
    async verify({ metadata: trail }, trajectory) {
      return { outcome: walked(trail, actionsOf(trajectory)).junction === junctions ? 1 : 0 };
    },
  });
}
