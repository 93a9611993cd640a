/** Locks whose last setting can be taken back: a mistake shows, and whoever goes back can repair it. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Locks, wheels of each, settings of a wheel, and actions of an episode. */
const [locks, wheels, settings, turns] = [12, 4, 4, 10];
/** Episodes of the test at each lock. */
const each = 8;
/** First probability of the right setting of a wheel, and of going back, whatever is seen. */
const [chance, backward] = [0.5, 0.05];
const words = Array.from({ length: settings }, (_, i) => `s${i}`);
const actions = [...words, "back"];

const rightOf = (task: Task): readonly string[] => task.metadata.right as readonly string[];

const seenOf = (task: Task, set: readonly string[]): string => {
  const last = set.length - 1;
  const cue = last >= 0 && set[last] !== rightOf(task)[last] ? "doubt" : "fine";
  return `lock ${task.metadata.number} wheel ${set.length} ${cue}`;
};

/** The state after an action: a setting of the next wheel, or one wheel back. Anything else changes nothing. */
const after = (set: readonly string[], action: string): readonly string[] =>
  action === "back"
    ? set.slice(0, -1)
    : words.includes(action) && set.length < wheels
      ? [...set, action]
      : set;

const isOpen = (task: Task, set: readonly string[]): boolean =>
  set.length === wheels && set.every((word, wheel) => word === rightOf(task)[wheel]);

/** "lock 3 wheel 2 doubt": the last setting is wrong. An open lock pays `outcome` 1 and ends the episode; ten actions end it too. */
export function retraced(seed: number): Environment {
  const taskAt = (split: string, index: number): Task => {
    const number = index % locks;
    const random = randomStream(seed).split("lock", number);
    const right = Array.from({ length: wheels }, () => words[random.below(settings)]!);
    const task: Task = {
      id: `retraced/${split}/${index}`,
      prompt: [],
      metadata: { number, right },
      seed: randomStream(seed).split(split, index).seed,
    };
    return { ...task, prompt: [{ role: "user", content: seenOf(task, []) }] };
  };
  const sizes: Readonly<Record<string, number>> = { train: locks, test: locks * each };
  return defineEnvironment({
    name: "retraced",
    summary: "set the wheels of a lock one by one, and take back what was wrong",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [
      "lock wheel fine doubt",
      ...actions,
      ...Array.from({ length: Math.max(locks, wheels + 1) }, (_, i) => `${i}`),
    ],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    expert: (task, conversation) => {
      const seen = conversation.findLast(({ content }) => content.startsWith("lock "))?.content ?? "";
      return seen.endsWith("doubt") ? "back" : (rightOf(task)[Number(seen.split(" ")[3])] ?? "back");
    },
    start: async (task, random) =>
      machine<{ readonly set: readonly string[]; readonly made: number }>(
        {
          see: ({ set, made }) => ({
            messages: made === 0 ? [] : [{ role: "user", content: seenOf(task, set) }],
            stateKey: seenOf(task, set),
            legal: actions,
          }),
          act: ({ set, made }, action) => {
            const next = { set: after(set, action), made: made + 1 };
            const success = isOpen(task, next.set);
            if (!success && next.made < turns) return { next };
            const end = { kind: "done", reason: success ? "open" : "out of actions", success } as const;
            return { next, rewards: { outcome: Number(success) }, end };
          },
        },
        { set: [], made: 0 },
        random,
      ),
    verify: async (task, trajectory) => {
      let set: readonly string[] = [];
      for (const { action } of trajectory.turns.slice(0, turns))
        if (!isOpen(task, set)) set = after(set, action.content.trim());
      return { outcome: Number(isOpen(task, set)) };
    },
  });
}

/** A row for each lock and wheel, and one for what the last setting looks like, which all locks share. */
export function retracedPolicy(seed: number) {
  const right = retraced(seed).tasks("train").map(rightOf);
  const placeOf = (context: readonly string[]) => {
    const at = context.lastIndexOf("lock");
    return { lock: Number(context[at + 1]), wheel: Number(context[at + 3]), cue: context[at + 4] };
  };
  return {
    // the last observation, and the word that may follow it
    context: 10,
    features: (context: readonly string[]) => {
      const { lock, wheel, cue } = placeOf(context);
      return [`${lock} ${wheel}`, `${cue}`];
    },
    prior: (context: readonly string[], word: string) => {
      if (!actions.includes(word)) return -1e9;
      const { lock, wheel } = placeOf(context);
      const others = (1 - backward) * (1 - chance);
      const p =
        word === "back"
          ? backward
          : word === right[lock]?.[wheel]
            ? (1 - backward) * chance
            : others / (settings - 1);
      return Math.log(p);
    },
  };
}
