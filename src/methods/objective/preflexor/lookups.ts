/** Two chained look-ups: a thought names the intermediate key, in one of several spellings, and the answer its value. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link lookups}. */
export interface LookupsOptions {
  /** Number of training questions; as many others are held out. Default 10. */
  readonly questions?: number;
  /** Number of keys, each with its own value. Default 6. */
  readonly keys?: number;
  /** Spellings of each key that mean the same. Default 4. */
  readonly spellings?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The key that a question leads to, and its value. */
export const hopsOf = (task: Task): { readonly key: number; readonly value: string } => ({
  key: Number(task.metadata.key),
  value: String(task.metadata.value),
});

/** A spelling of a key, e.g. `k2.s0`. */
export const spelling = (key: number, form: number): string => `k${key}.s${form}`;

/**
 * A reply is "think k2.s0 so v5": a thought between two markers, and an answer. The right answer has `outcome` 1, whatever
 * the thought.
 */
export function lookups(options: LookupsOptions = {}): Environment {
  const { questions = 10, keys = 6, spellings = 4, seed = 1 } = options;
  const numbers = [...Array(keys).keys()];
  const assigned = shuffled(numbers, randomStream(seed).split("values"));
  const values = numbers.map((n) => `v${n}`);
  const thoughts = numbers.flatMap((key) =>
    Array.from({ length: spellings }, (_, form) => spelling(key, form)),
  );
  return oneReply({
    name: "lookups",
    summary: "two look-ups in a row, the one in between thought aloud in one of several spellings",
    questions,
    length: 4,
    words: ["think", "so", ...thoughts, ...values],
    seed,
    metadata: (index) => {
      const key = randomStream(seed).split("key", index).below(keys);
      return { key, value: `v${assigned[key]!}` };
    },
    grade: (task, reply) => {
      const [open, thought = "", close, answer, ...more] = reply.split(/\s+/);
      const isReply = open === "think" && thoughts.includes(thought) && close === "so" && more.length === 0;
      const success = isReply && answer === hopsOf(task).value;
      return { rewards: { outcome: success ? 1 : 0 }, success };
    },
    expert: (task) => `think ${spelling(hopsOf(task).key, 0)} so ${hopsOf(task).value}`,
  });
}
