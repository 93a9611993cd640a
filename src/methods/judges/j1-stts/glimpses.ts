/** Pairs of replies of which a judge can only catch glimpses: each look at them is right more often than not. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Probability that a look shows the better reply. */
const sharpness = 0.7;
export const verdicts = ["first", "second"] as const;
export const isVerdict = (action: string): boolean => verdicts.some((verdict) => verdict === action);

/** Settings of {@link glimpses}. */
export interface GlimpsesOptions {
  /** Pairs of each split; each is a task in both orders. Default 60. */
  readonly pairs?: number;
  /** Action limit of a judgement. Default 6. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

/**
 * A task is a pair of replies in one of two orders; its label says whether the first or the second is better. The action `check` looks at the
 * pair once more, and the observation says which reply looked better, `saw first`: rightly with probability 0.7, each time anew. A
 * verdict ends the judgement and pays `outcome` 1 or 0; without one in time it pays nothing. Any other word shows nothing.
 */
export function glimpses({ pairs = 60, turns = 6, seed = 1 }: GlimpsesOptions = {}): Environment {
  const splits = ["train", "test"];
  const taskAt = (split: string, index: number): Task => {
    const swapped = index % 2 === 1;
    const pair = Math.floor(index / 2);
    const better = randomStream(seed).split("pair", split, pair).next() < 0.5 !== swapped;
    return {
      id: `glimpses/${split}/${pair}${swapped ? "/swapped" : ""}`,
      prompt: [{ role: "user", content: "which ?" }],
      reference: verdicts[better ? 0 : 1],
      metadata: { index, pair },
      seed: randomStream(seed).split("task", split, index).seed,
    };
  };
  return defineEnvironment({
    name: "glimpses",
    summary: "look at two replies, as often as you like, and say which is better",
    abilities: new Set(["expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 1 },
    vocabulary: () => ["which ? check saw nothing", ...verdicts],
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: 2 * pairs }, (_, i) => taskAt(split, i)) : [],
    expert: (task) => task.reference!,
    async verify(task, trajectory) {
      return { outcome: Number(trajectory.turns.at(-1)?.action.content.trim() === task.reference) };
    },
    start: async (task, random) =>
      machine<{ readonly seen: string; readonly turn: number }>(
        {
          see: ({ seen }) => ({ messages: seen === "" ? [] : [{ role: "user", content: `saw ${seen}` }] }),
          act: ({ turn }, action, luck) => {
            if (isVerdict(action)) {
              const success = action === task.reference;
              const end = { kind: "done", reason: action, success } as const;
              return { next: { seen: "", turn }, rewards: { outcome: Number(success) }, end };
            }
            const right = luck.next() < sharpness;
            const look = verdicts.find((verdict) => (verdict === task.reference) === right)!;
            const next = { seen: action === "check" ? look : "nothing", turn: turn + 1 };
            if (turn + 1 < turns) return { next };
            return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turns } };
          },
        },
        { seen: "", turn: 0 },
        random,
      ),
  });
}

/** What a judge has seen: each look, and whether it was told to wait since its last one. */
function looksIn(context: readonly string[]) {
  const seen = context.flatMap((word, i) => (context[i - 1] === "saw" && isVerdict(word) ? [word] : []));
  const waits = context.lastIndexOf("Wait") > context.lastIndexOf("saw");
  return { seen, waits };
}

/** The balance of all looks, the last look, whether there was any, and whether it is told to wait. */
export const glimpsed = (context: readonly string[]): readonly string[] => {
  const { seen, waits } = looksIn(context);
  const balance = seen.reduce((sum, look) => sum + (look === "first" ? 1 : -1), 0);
  return [
    `balance ${Math.max(-4, Math.min(4, balance))}`,
    `last ${seen.at(-1) ?? "none"}`,
    waits ? "waits" : "goes on",
    "always",
  ];
};

/**
 * At first a judge looks before it speaks and again when it is told to wait, goes by its last look, and prefers whatever is first.
 */
export const hasty = (context: readonly string[], word: string): number => {
  if (context.at(-1) !== "<assistant>") return word === "<end>" ? 0 : -1e9;
  const { seen, waits } = looksIn(context);
  if (word === "check") return seen.length === 0 || waits ? 2 : 0;
  if (!isVerdict(word)) return -1e9;
  return (word === "first" ? 0.5 : 0) + (seen.at(-1) === word ? 1.5 : 0);
};
