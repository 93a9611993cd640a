/** Pairs of trajectories at the tool desk: one that keeps every rule, and one that looks like it and breaks some. */
import type { TrajectoryPair } from "../../common/tokens/pairs.ts";
import { type Random, randomStream, shuffled } from "../../core/random.ts";
import type { Message, Task, Trajectory, Turn } from "../../core/types.ts";
import { deskTask } from "./toolWorld.ts";
import {
  acted,
  answerOf,
  type DeskState,
  deskAfter,
  deskOf,
  emptyDesk,
  type Family,
  families,
  items,
  mustRefuse,
  resultWords,
} from "./world.ts";

/**
 * Where the worse one of a pair comes from: another attempt at the same task ("natural"), or the better one itself
 * with a rule broken in it ("rule"), or with so small a change that exactly one constraint breaks ("edit").
 */
export const sources = ["natural", "rule", "edit"] as const;
export type Source = (typeof sources)[number];

/** Settings of {@link trajectoryPairs}. */
export interface PairOptions {
  readonly count: number;
  /** Look-ups of the tasks, in turn. Default 3. */
  readonly blocks?: readonly number[];
  /** Default: 70 % natural, 8 % rule, 22 % edit. */
  readonly sources?: Readonly<Record<Source, number>>;
  /** Default: 36 % irrelevance, 47 % recovery, 10 % planning, 7 % safety. */
  readonly families?: Readonly<Record<Family, number>>;
  readonly seed: number;
}

/** Shares and families of the paper's 760 pairs. */
const mixOfSources: Readonly<Record<Source, number>> = { natural: 0.7, rule: 0.08, edit: 0.22 };
const mixOfFamilies: Readonly<Record<Family, number>> = {
  irrelevance: 275,
  recovery: 361,
  planning: 73,
  safety: 51,
};

/** Attempts among which the one nearest in length is taken. */
const candidates = 4;

/**
 * Pairs whose better one is right by the world's own rules and whose worse one is not. What tools answer is simulated
 * anew after every change, so that a trajectory never contradicts itself. The worse one of a natural pair is a slip
 * in an independent attempt, the one nearest in length of a few. Labels: family, source, kind (of the slip), blocks.
 * Composition after the paper "Aligning Agents via Planning: A Benchmark for Trajectory-Level Reward Modeling".
 */
export function trajectoryPairs(options: PairOptions): readonly TrajectoryPair[] {
  const { count, blocks = [3], seed } = options;
  const { sources: bySource = mixOfSources, families: byFamily = mixOfFamilies } = options;
  return Array.from({ length: count }, (_, index) => {
    const id = `pair/${seed}/${index}`;
    const random = randomStream(seed).split("pair", index);
    const family = drawn(families, byFamily, random.split("family"));
    const length = blocks[index % blocks.length]!;
    for (let tried = 0; ; tried++) {
      const stream = random.split("try", tried);
      const task = deskTask(family, length, id, stream.split("task"));
      const found = pairAt(task, drawn(sources, bySource, stream.split("source")), stream);
      if (found) return { id, task, ...found };
    }
  });
}

type Made = Omit<TrajectoryPair, "id" | "task">;

/** A pair of a source, where the task has room for one. */
function pairAt(task: Task, source: Source, random: Random): Made | undefined {
  const better = attempt(task, random.split("better"));
  const length = wordsIn(better);
  const others = Array.from({ length: source === "natural" ? candidates : 1 }, (_, i) => {
    const stream = random.split("worse", i);
    const from = source === "natural" ? attempt(task, stream) : better;
    const slips = shuffled(slipsIn(task, from), stream.split("slip"));
    return slips.find(({ actions }) => breaks(task, actions, source, from));
  });
  const [worse] = others
    .filter((slip) => slip !== undefined)
    .sort((a, b) => Math.abs(wordsIn(a.actions) - length) - Math.abs(wordsIn(b.actions) - length));
  if (!worse) return undefined;
  const { family, asks } = deskOf(task);
  return {
    chosen: simulated(task, better, "chosen"),
    rejected: simulated(task, worse.actions, "rejected"),
    labels: { family, source, kind: worse.kind, blocks: String(asks.length) },
  };
}

function breaks(task: Task, actions: readonly string[], source: Source, from: readonly string[]): boolean {
  const { broken } = deskAfter(task, actions);
  if (source !== "edit") return broken.size > 0;
  return broken.size === 1 && Math.abs(actions.length - from.length) <= 1;
}

/** A right attempt in a style of its own: look-ups in any order, some tools opened early, some notes. */
function attempt(task: Task, random: Random): readonly string[] {
  const desk = deskOf(task);
  if (mustRefuse(desk)) return ["refuse"];
  const order = shuffled([...desk.asks.keys()], random.split("order"));
  const stream = random.split("style");
  const actions: string[] = [];
  let state: DeskState = emptyDesk;
  while (!state.over) {
    const waiting = order.filter((i) => desk.offered.includes(desk.asks[i]!.tool) && !state.results.has(i));
    const [next, later] = waiting.map((i) => desk.asks[i]!);
    const style = stream.next();
    let action = answerOf(desk, state.results);
    if (style < 0.15) action = "note";
    else if (state.error !== undefined) action = `fix ${state.error}`;
    else if (later && style < 0.3 && !state.open.has(later.tool)) action = `open ${later.tool}`;
    else if (next) action = state.open.has(next.tool) ? `use ${next.tool} ${next.item}` : `open ${next.tool}`;
    actions.push(action);
    state = acted(task, state, action);
  }
  return actions;
}

interface Slip {
  readonly kind: string;
  readonly actions: readonly string[];
}

/** Every way in which one thing goes wrong in an attempt; some change nothing that matters. */
function slipsIn(task: Task, actions: readonly string[]): readonly Slip[] {
  const { asks, offered } = deskOf(task);
  const instead = (at: number, ...by: readonly string[]) => actions.toSpliced(at, 1, ...by);
  return actions.flatMap((action, at): Slip[] => {
    const [verb, tool = "", item = ""] = action.split(" ");
    const before = actions[at - 1];
    switch (verb) {
      case "open":
        return [{ kind: "step dropped", actions: instead(at) }];
      case "use": {
        const other = items[(items.indexOf(item) + 1) % items.length]!;
        const elsewhere = offered[(offered.indexOf(tool) + 1) % offered.length]!;
        const swapped = actions.toSpliced(at - 1, 2, action, before ?? "note");
        return [
          { kind: "step dropped", actions: instead(at) },
          { kind: "argument changed", actions: instead(at, `use ${tool} ${other}`) },
          { kind: "wrong tool", actions: instead(at, `use ${elsewhere} ${item}`) },
          ...(before === `open ${tool}` ? [{ kind: "steps swapped", actions: swapped }] : []),
        ];
      }
      case "fix":
        return [
          { kind: "recovery removed", actions: instead(at, "note") },
          { kind: "recovery removed", actions: instead(at) },
        ];
      case "answer":
        return asks.map((_, i) => {
          const words = action.split(" ");
          const made = resultWords[(resultWords.indexOf(words[i + 1] ?? "") + 7 + i) % resultWords.length]!;
          return { kind: "result made up", actions: instead(at, words.with(i + 1, made).join(" ")) };
        });
      case "refuse": {
        const calls = asks.flatMap((ask) => [`open ${ask.tool}`, `use ${ask.tool} ${ask.item}`]);
        const results = deskAfter(task, calls).results;
        return [
          { kind: "complied", actions: [...calls, answerOf(deskOf(task), results)] },
          { kind: "refused late", actions: ["note", action] },
          { kind: "refused late", actions: [...calls.slice(0, 2), action] },
        ];
      }
      default:
        return [];
    }
  });
}

const wordsIn = (actions: readonly string[]): number =>
  actions.reduce((n, action) => n + action.split(" ").length, 0);

/** The trajectory of these actions, with what the tools say to them. */
function simulated(task: Task, actions: readonly string[], name: string): Trajectory {
  const conversation: Message[] = [...task.prompt];
  let state = emptyDesk;
  const turns = actions.map((content, index): Turn => {
    const prompt = [...conversation];
    const action: Message = { role: "assistant", content };
    state = acted(task, state, content);
    conversation.push(action, { role: "user", content: state.said });
    const rewards = index === actions.length - 1 ? { outcome: state.broken.size === 0 ? 1 : 0 } : {};
    return { ...written, prompt, action, rewards };
  });
  const success = state.over && state.broken.size === 0;
  return {
    id: `${task.id}/${name}`,
    task: task.id,
    episode: `${task.id}/${name}`,
    role: "agent",
    turns,
    end: { kind: "done", reason: "answered", success },
    origin: "demonstrated",
  };
}

const written = {
  role: "agent",
  model: "script",
  version: "script",
  spans: {},
  stop: "eos",
  ms: 0,
} as const satisfies Partial<Turn>;

/** One of the names, by weight. */
function drawn<Name extends string>(
  names: readonly Name[],
  weights: Readonly<Record<Name, number>>,
  random: Random,
): Name {
  let left = random.next() * names.reduce((sum, name) => sum + weights[name], 0);
  return names.find((name) => (left -= weights[name]) < 0) ?? names.at(-1)!;
}
