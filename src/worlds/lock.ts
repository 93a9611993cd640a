/** A lock with several wheels: each has one right setting, and the only reward comes after all are set. */
import { randomStream } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import { critiqueWords, type Part, templated, wholeAction } from "../env/critiques.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";
import { machine } from "../env/machine.ts";

/** Settings of {@link lock}. */
export interface LockOptions {
  /** Number of training locks, and of held-out locks. Default 12. */
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
 * Lock 3 shows its wheels one by one, "lock 3 wheel 0", and each is set by one word, `s2`. After the last wheel it opens and
 * pays `outcome` 1, or stays shut. The episode continues after a mistake, without any sign of it.
 *
 * A critique names the first wheel that was set wrongly, and with an answer its right setting.
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
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: wheels, actionTokens: 1 },
    vocabulary: () => ["lock wheel", ...words, ...numerals(Math.max(2 * locks, wheels))],
    critiqueVocabulary: () => critiqueWords(wheels),
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
    critique: async (task, trajectory, request) => {
      const outcome = outcomeOf(task, said(trajectory)) === 1 ? "success" : "failure";
      const parts = said(trajectory)
        .slice(0, wheels)
        .map((setting, wheel): Part => {
          const better = settingsOf(task)[wheel]!;
          const worse = words.filter((word) => word !== better && word !== setting);
          const good = setting === better;
          return { ...wholeAction(wheel, setting), good, name: `wheel ${wheel}`, better, worse };
        });
      return templated({ outcome, parts }, request);
    },
  });
}

const numerals = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`);
