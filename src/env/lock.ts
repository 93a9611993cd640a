/** A lock of several wheels: one right setting for each, and nothing is known until all are set. */
import type { Critique, CritiqueWish } from "../core/critic.ts";
import { randomStream } from "../core/random.ts";
import type { Task, Trajectory } from "../core/words.ts";
import { defineEnvironment, type Environment } from "./environment.ts";
import { machine } from "./machine.ts";

/** Settings of {@link lock}. */
export interface LockOptions {
  /** Locks practised; as many others nobody practises. Default 12. */
  readonly locks?: number;
  /** Wheels of a lock, one action each. Default 6. */
  readonly wheels?: number;
  /** Settings of a wheel, at least 2. Default 4. */
  readonly settings?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The right setting of each wheel of a task's lock. */
export const settingsOf = (task: Task): readonly string[] => task.metadata.settings as readonly string[];

/** Index of the first wheel that was set wrongly; undefined where the lock opened. */
export function firstWrong(task: Task, set: readonly string[]): number | undefined {
  const wrong = settingsOf(task).findIndex((right, wheel) => set[wheel] !== right);
  return wrong < 0 ? undefined : wrong;
}

const said = ({ turns }: Trajectory): readonly string[] => turns.map(({ action }) => action.content.trim());

/**
 * Lock 3 shows its wheels one by one, "lock 3 wheel 0", and each is set in one word, `s2`. After the last wheel it opens
 * and pays `outcome` 1, or stays shut. Play goes on after a mistake, and nothing tells.
 *
 * A critique names the first wrong wheel and blames its setting, "not s2"; with the answer it names the right one. A
 * misleading critique says the opposite of what came, and where it names a wheel, another setting than the right one.
 */
export function lock(options: LockOptions = {}): Environment {
  const { locks = 12, wheels = 6, settings = 4, seed = 1 } = options;
  const words = Array.from({ length: settings }, (_, i) => `s${i}`);
  const splits = ["train", "test"] as const;

  function taskAt(split: string, index: number): Task {
    const number = split === "train" ? index : locks + index;
    const random = randomStream(seed).split("lock", number);
    return {
      id: `lock/${split}/${index}`,
      prompt: [{ role: "user", content: `lock ${number} wheel 0` }],
      metadata: { number, settings: Array.from({ length: wheels }, () => words[random.below(settings)]!) },
      seed: random.seed,
    };
  }
  const outcomeOf = (task: Task, set: readonly string[]): number =>
    set.length === wheels && firstWrong(task, set) === undefined ? 1 : 0;

  return defineEnvironment({
    name: "lock",
    summary: "set the wheels of a lock one by one; only the last one shows whether it opens",
    abilities: new Set(["fork", "replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: wheels, actionTokens: 1 },
    lexicon: () => ["lock wheel", ...words, ...numerals(Math.max(2 * locks, wheels))],
    critiqueLexicon: () => ["it opened shut not set"],
    tasks: (split) =>
      splits.some((name) => name === split) ? Array.from({ length: locks }, (_, i) => taskAt(split, i)) : [],
    expert: (task, conversation) =>
      settingsOf(task)[conversation.filter((m) => m.role === "assistant").length]!,
    start: async (task, random) =>
      machine<readonly string[]>(
        {
          see: (set) => {
            const seen = `lock ${task.metadata.number} wheel ${set.length}`;
            const shown = [{ role: "user", content: seen }] as const;
            return { messages: set.length === 0 ? [] : shown, stateKey: seen, legal: words };
          },
          act: (set, action) => {
            const next = [...set, action];
            if (next.length < wheels) return { next };
            const outcome = outcomeOf(task, next);
            const end = {
              kind: "done",
              reason: outcome === 1 ? "opened" : "shut",
              success: outcome === 1,
            } as const;
            return { next, rewards: { outcome }, end };
          },
        },
        [],
        random,
      ),
    verify: async (task, trajectory) => ({ outcome: outcomeOf(task, said(trajectory)) }),
    critique: async (task, trajectory, wish) => critiqueOf(task, said(trajectory), words, wish),
  });
}

const numerals = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`);

function critiqueOf(
  task: Task,
  set: readonly string[],
  words: readonly string[],
  { right, detail, random }: CritiqueWish,
): Critique {
  const wrong = firstWrong(task, set);
  const failed = right === (wrong !== undefined);
  if (!failed) return { text: "it opened", verdict: "success" };
  if (detail === "verdict" || set.length === 0) return { text: "it shut", verdict: "failure" };
  const turn = wrong ?? random.below(set.length);
  const setting = set[turn] ?? "";
  const blamed = `not ${words.includes(setting) ? setting : "it"}`;
  if (detail === "hint") return { text: blamed, verdict: "failure", turn };
  const remedies = words.filter((word) => right === (word === settingsOf(task)[turn]));
  return { text: `${blamed} set ${remedies[random.below(remedies.length)]}`, verdict: "failure", turn };
}
