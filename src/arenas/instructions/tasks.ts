/** Instructions to bring things: what is asked, in which order and tone, and what is not wanted. */
import { type Random, randomStream, shuffled } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";

/** What an instruction means. A task's metadata. */
export interface Instruction {
  /** In the order in which they are to be named. */
  readonly asked: readonly string[];
  /** Mentioned, but not to be named. */
  readonly unwanted?: string;
  /** "polite": a polite word is needed; "brief": none is allowed. */
  readonly tone: "plain" | "polite" | "brief";
  /** Things as the instruction mentions them, from left to right. */
  readonly mentioned: readonly string[];
  /** What a reply is paid by: the rater's first impression in training, the utility on held-out splits. */
  readonly paid: "impression" | "utility";
}

export const things =
  "apples bread butter candles cheese coffee eggs flour forks glasses honey juice knives lemons milk napkins olives pears plates rice salt soup spoons tea".split(
    " ",
  );
export const politeWords = ["gladly", "please", "thanks"] as const;
const saidFor = { plain: "", polite: "politely ", brief: "briefly " } as const;

/** Tasks of each split, in the order in which they are drawn. */
const sizes = { test: 400, validation: 120, train: 6000 } as const;

/** `briefly bring tea then salt after eggs but no milk` is answered by `eggs tea salt`. */
function drawn(random: Random): { readonly text: string } & Omit<Instruction, "paid"> {
  const drawnThings = shuffled(things, random.split("things"));
  const unwanted = random.below(5) < 2 ? drawnThings.pop() : undefined;
  const mentions = drawnThings.slice(0, unwanted === undefined ? 3 : 2 + random.below(2));
  const tone = (["plain", "polite", "brief"] as const)[random.below(3)]!;
  const [first, ...rest] = mentions as [string, ...string[]];
  const isTurned = random.below(2) === 0;
  const order = isTurned ? `${rest.join(" then ")} after ${first}` : mentions.join(" then ");
  return {
    text: `${saidFor[tone]}bring ${order}${unwanted ? ` but no ${unwanted}` : ""}`,
    asked: mentions,
    ...(unwanted !== undefined && { unwanted }),
    tone,
    mentioned: [...(isTurned ? [...rest, first] : mentions), ...(unwanted ? [unwanted] : [])],
  };
}

/** All splits; equal at each call. No two held-out tasks mention the same set of things, and no training task one of theirs. */
export function allTasks(): Readonly<Record<string, readonly Task<Instruction>[]>> {
  const reserved = new Set<string>();
  const splits: Record<string, Task<Instruction>[]> = {};
  for (const [split, size] of Object.entries(sizes)) {
    const tasks: Task<Instruction>[] = [];
    for (let at = 0; tasks.length < size; at++) {
      const stream = randomStream("instructions").split(split, at);
      const { text, ...instruction } = drawn(stream);
      const combination = instruction.mentioned.toSorted().join(" ");
      if (reserved.has(combination)) continue;
      if (split !== "train") reserved.add(combination);
      tasks.push({
        id: `instructions/${split}/${tasks.length}`,
        prompt: [{ role: "user", content: text }],
        metadata: { ...instruction, paid: split === "train" ? "impression" : "utility" },
        seed: stream.seed,
      });
    }
    splits[split] = tasks;
  }
  return splits;
}
