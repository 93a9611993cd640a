/** Ladders of quality: at each level one edit of several takes an attempt a level up. Any level can be started from. */
import { randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";
import { machine } from "../env/machine.ts";

/** Settings of {@link ladders}. */
export interface LaddersOptions {
  /** Number of ladders that training climbs, and of other ones that are held out. Default 12. */
  readonly ladders?: number;
  /** Levels of a ladder. Default 10. */
  readonly levels?: number;
  /** Edits to choose from. Default 8. */
  readonly edits?: number;
  /** Edits of an episode. Default 10. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

interface State {
  readonly level: number;
  readonly turn: number;
}

/** The edit that takes a ladder from a level to the next. */
export const rightEdit = (task: Task, level: number): string =>
  (task.metadata.right as readonly string[])[level]!;

/**
 * Ladder 3 at its second level is seen as "l3 level 2", and each action is one edit, `e5`. The right one takes the attempt a level
 * up and pays `outcome`, one level's share of the ladder; the others change nothing. The quality of an attempt is the sum of its
 * rewards, in [0, 1]. An episode ends at the top, which is its success, or after its last edit.
 */
export function ladders(options: LaddersOptions = {}): Environment {
  const { ladders: count = 12, levels = 10, edits = 8, turns = 10, seed = 1 } = options;
  const words = Array.from({ length: edits }, (_, i) => `e${i}`);
  const splits = ["train", "test"] as const;
  const taskAt = (split: string, index: number): Task => {
    const number = split === "train" ? index : count + index;
    const random = randomStream(seed).split("ladder", number);
    return {
      id: `ladders/${split}/${index}`,
      prompt: [{ role: "user", content: `l${number} level 0` }],
      metadata: { number, right: Array.from({ length: levels }, () => words[random.below(edits)]!) },
      seed: random.seed,
    };
  };
  return defineEnvironment({
    name: "ladders",
    summary: "improve an attempt edit by edit; at each level one edit of several helps",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [
      "level",
      ...words,
      ...Array.from({ length: 2 * count }, (_, i) => `l${i}`),
      ...Array.from({ length: levels }, (_, i) => `${i}`),
    ],
    tasks: (split) =>
      splits.some((name) => name === split) ? Array.from({ length: count }, (_, i) => taskAt(split, i)) : [],
    expert: (task, conversation) => {
      const seen = conversation.findLast(({ role }) => role === "user")?.content ?? "";
      return rightEdit(task, Number(seen.split(" ")[2] ?? 0));
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: ({ level, turn }) => {
            const seen = `l${task.metadata.number} level ${level}`;
            return {
              messages: turn === 0 ? [] : [{ role: "user", content: seen }],
              stateKey: seen,
              legal: words,
            };
          },
          act: ({ level, turn }, action) => {
            const helps = action === rightEdit(task, level);
            const next = { level: level + Number(helps), turn: turn + 1 };
            const rewards = { outcome: helps ? 1 / levels : 0 };
            if (next.level === levels)
              return { next, rewards, end: { kind: "done", reason: "at the top", success: true } };
            if (next.turn === turns)
              return { next, rewards, end: { kind: "done", reason: "out of edits", success: false } };
            return { next, rewards };
          },
        },
        { level: 0, turn: 0 },
        random,
      ),
    verify: async (_task, { turns: made }) => ({
      outcome: made.reduce((sum, { rewards }) => sum + (rewards.outcome ?? 0), 0),
    }),
  });
}

/**
 * Expected quality after each of `steps` edits from the bottom, [steps], for a policy that chooses the right edit of level k with
 * probability `right[k]`.
 */
export function qualityAfter(right: readonly number[], steps: number): number[] {
  const levels = right.length;
  let at = [1, ...right.map(() => 0)];
  return Array.from({ length: steps }, () => {
    at = at.map((p, k) => p * (1 - (right[k] ?? 0)) + (at[k - 1] ?? 0) * (right[k - 1] ?? 0));
    return at.reduce((sum, p, k) => sum + (p * k) / levels, 0);
  });
}
