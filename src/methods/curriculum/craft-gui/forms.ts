import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

/** Settings of {@link forms}. */
export interface FormsOptions {
  /** Forms of each length, in training and held out. Default 4. */
  readonly each?: number;
  /** Lengths, in fields. Default 1 to 10. */
  readonly lengths?: readonly number[];
  /** Kinds of fields, which all forms share. Default 12. */
  readonly kinds?: number;
  /** Default 1. */
  readonly seed?: number;
}

const types = ["click", "type", "scroll"] as const;
const slots = ["s0", "s1", "s2", "s3"] as const;
const values = ["v0", "v1", "v2", "v3", "v4", "v5"] as const;

/** The right action for a kind of field: three words, its type, slot and value. */
export function rightAction(kind: number, seed: number): string {
  const random = randomStream(seed).split("kind", kind);
  return [types, slots, values].map((words) => words[random.below(words.length)]!).join(" ");
}

/** Kinds of a form's fields, in order. */
export const kindsOf = (task: Task): readonly number[] => task.metadata.kinds as readonly number[];

interface State {
  readonly field: number;
  readonly right: number;
}

/**
 * A form is filled field by field: "k3" shows a field's kind, and the action is three words, such as "click s1 v4". Rewards of an
 * action: `format`, whether it has that form; `type` and `argument`, whether its type, and the share of its slot and value, are
 * right. The last one also pays `outcome`: 1 if all fields are right.
 */
export function forms(options: FormsOptions = {}): Environment {
  const { each = 4, lengths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], kinds = 12, seed = 1 } = options;
  const splits = ["train", "test"] as const;
  const taskAt = (split: string, length: number, index: number): Task => {
    const random = randomStream(seed).split(split, length, index);
    const own = Array.from({ length }, () => random.below(kinds));
    return {
      id: `forms/${split}/${length}/${index}`,
      prompt: [{ role: "user", content: `k${own[0]}` }],
      metadata: { kinds: own, steps: length },
      seed: random.seed,
    };
  };
  const graded = (kind: number, action: string) => {
    const [type, slot, value] = rightAction(kind, seed).split(" ");
    const said = action.split(/\s+/);
    const isFormed =
      said.length === 3 &&
      types.some((word) => word === said[0]) &&
      slots.some((word) => word === said[1]) &&
      values.some((word) => word === said[2]);
    return {
      format: Number(isFormed),
      type: Number(said[0] === type),
      argument: (Number(said[1] === slot) + Number(said[2] === value)) / 2,
    };
  };
  return defineEnvironment({
    name: "forms",
    summary: "fill a form field by field; its length decides how hard it is",
    abilities: new Set(["replay", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: Math.max(...lengths), actionTokens: 3 },
    vocabulary: () => [...types, ...slots, ...values, ...Array.from({ length: kinds }, (_, k) => `k${k}`)],
    tasks: (split) =>
      splits.some((name) => name === split)
        ? lengths.flatMap((length) => Array.from({ length: each }, (_, i) => taskAt(split, length, i)))
        : [],
    expert: (task, conversation) => {
      const field = conversation.filter(({ role }) => role === "assistant").length;
      return rightAction(kindsOf(task)[field]!, seed);
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: ({ field }) => ({
            messages: field === 0 ? [] : [{ role: "user", content: `k${kindsOf(task)[field]}` }],
          }),
          act: ({ field, right }, action) => {
            const { format, type, argument } = graded(kindsOf(task)[field]!, action);
            const next = { field: field + 1, right: right + Number(type === 1 && argument === 1) };
            const rewards = { format, type, argument };
            if (next.field < kindsOf(task).length) return { next, rewards };
            const success = next.right === next.field;
            const end = { kind: "done", reason: success ? "right" : "wrong", success } as const;
            return { next, rewards: { ...rewards, outcome: Number(success) }, end };
          },
        },
        { field: 0, right: 0 },
        random,
      ),
    verify: async (_task, { turns }) => ({ outcome: turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
