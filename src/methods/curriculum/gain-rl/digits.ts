/** Questions on two to four digits, answered with one digit: what a tiny transformer learns to compute. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Settings of {@link digits}. */
export interface DigitsOptions {
  /** Questions of training, and others that are held out. Default 400 and 100. */
  readonly questions?: number;
  readonly heldOut?: number;
  /** Default 1. */
  readonly seed?: number;
}

const operations: Readonly<Record<string, (xs: readonly number[]) => number>> = {
  sum: (xs) => xs.reduce((a, b) => a + b, 0) % 10,
  product: (xs) => xs.reduce((a, b) => a * b, 1) % 10,
  max: (xs) => Math.max(...xs),
};

/** "sum 3 9 4" is answered by the last digit of the sum, "product …" of the product, "max …" by the largest digit. No question is asked twice. */
export function digits({ questions = 400, heldOut = 100, seed = 1 }: DigitsOptions = {}): Environment {
  const sizes: Readonly<Record<string, number>> = { train: questions, test: heldOut };
  const known = new Set<string>();
  const drawn = (split: string): Task[] => {
    const tasks: Task[] = [];
    for (let i = 0; tasks.length < sizes[split]!; i++) {
      const random = randomStream(seed).split("digits", split, i);
      const name = Object.keys(operations)[random.below(3)]!;
      const numbers = Array.from({ length: 2 + random.below(3) }, () => random.below(10));
      const asked = `${name} ${numbers.join(" ")}`;
      if (known.has(asked)) continue;
      known.add(asked);
      tasks.push({
        id: `digits/${split}/${tasks.length}`,
        prompt: [{ role: "user", content: asked }],
        reference: String(operations[name]!(numbers)),
        metadata: {},
        seed: random.seed,
      });
    }
    return tasks;
  };
  const all = new Map(Object.keys(sizes).map((split) => [split, drawn(split)]));
  return defineEnvironment({
    name: "digits",
    summary: "compute one digit from a few",
    abilities: new Set(["replay", "expert"] as const),
    roles: ["agent"],
    splits: [...all.keys()],
    limits: { turns: 1, actionTokens: 2 },
    vocabulary: () => [...Object.keys(operations), ..."0123456789"],
    tasks: (split) => all.get(split) ?? [],
    expert: (task) => task.reference!,
    start: async (task, random) =>
      machine<null>(
        {
          see: () => ({ messages: [] }),
          act: (_, action) => {
            const success = action.trim() === task.reference;
            const end = { kind: "done", reason: success ? "right" : "wrong", success } as const;
            return { next: null, rewards: { outcome: Number(success) }, end };
          },
        },
        null,
        random,
      ),
    verify: async (task, { turns }) => ({
      outcome: Number(turns.at(-1)?.action.content.trim() === task.reference),
    }),
  });
}
