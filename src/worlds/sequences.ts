/** Short word sequences, each with its own reward; few enough that all answers can be enumerated. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";
import { allSequences, oneReply } from "../env/oneReply.ts";

/**
 * Reward structure.
 * - "right": a share of all answers pays 1, the others 0.
 * - "sum": every word has its own value in [0, 1] at every position, and an answer pays their mean.
 * - "uneven": every second question is hard: a single answer pays 1. At the others a share is accepted; a third of that pays
 *   1, the rest 0.6, and the expert gives one of the rest.
 */
export type Pay =
  | { readonly kind: "right"; readonly share: number }
  | { readonly kind: "sum" }
  | { readonly kind: "uneven"; readonly share: number };

/** Settings of {@link sequences}. */
export interface SequencesOptions {
  /** Number of training questions, and of held-out questions. Default 8. */
  readonly questions?: number;
  /** Words in an answer. Default 3. */
  readonly length?: number;
  /** Words to choose from. Default 6. */
  readonly vocabulary?: number;
  /** Default: a quarter of the answers is right. */
  readonly pay?: Pay;
  /** Default 1. */
  readonly seed?: number;
}

/** A world of sequences, with access to its true rewards. */
export interface Sequences extends Environment {
  /** Every answer of the right length, as text. */
  readonly all: readonly string[];
  /** Reward of an answer; 0 for an invalid text. */
  payOf(task: Task, answer: string): number;
  /** The highest reward of an answer. */
  bestPay(task: Task): number;
}

/** Whether a question of the "uneven" kind has only one right answer. */
export const isHard = (task: Task): boolean => Number(task.metadata.index) % 2 === 1;

/** An answer is a success where it pays at least this share of the best one. */
const successShare = 0.6;

/** The answer to question `q7` is `length` words out of `w0`, `w1`…; each question has its own rewards. */
export function sequences(options: SequencesOptions = {}): Sequences {
  const { questions = 8, length = 3, vocabulary = 6, seed = 1 } = options;
  const { pay = { kind: "right", share: 0.25 } } = options;
  const words = Array.from({ length: vocabulary }, (_, i) => `w${i}`);
  const all = allSequences(words, length);
  const known = new Map<number, Known>();
  const of = (task: Task): Known => {
    const found = known.get(task.seed) ?? made(pay, all, task);
    known.set(task.seed, found);
    return found;
  };
  const payOf: Sequences["payOf"] = (task, answer) => of(task).pays.get(answer) ?? 0;
  return {
    all,
    payOf,
    bestPay: (task) => of(task).best,
    ...oneReply({
      name: "sequences",
      summary: "write a few words; which sequences pay depends on the question",
      questions,
      length,
      words,
      seed,
      grade: (task, reply) => {
        const outcome = payOf(task, reply);
        return { rewards: { outcome }, success: outcome > 0 && outcome >= successShare * of(task).best };
      },
      expert: (task) => of(task).shown,
    }),
  };
}

/** The data of a question. */
interface Known {
  readonly pays: ReadonlyMap<string, number>;
  readonly best: number;
  /** The expert's answer. */
  readonly shown: string;
}

function made(pay: Pay, all: readonly string[], task: Task): Known {
  const stream = randomStream(task.seed);
  const pays = paysOf(pay, all, isHard(task), stream);
  const best = Math.max(...pays.values());
  const wanted = pay.kind === "uneven" && !isHard(task) ? 0.6 : best;
  return { pays, best, shown: [...pays].find(([, paid]) => paid === wanted)![0] };
}

function paysOf(pay: Pay, all: readonly string[], hard: boolean, stream: Random): Map<string, number> {
  if (pay.kind === "sum") {
    return new Map(
      all.map((answer) => {
        const parts = answer.split(" ").map((word, place) => stream.split(place, word).next());
        return [answer, parts.reduce((sum, x) => sum + x / parts.length, 0)];
      }),
    );
  }
  const order = shuffled(all, stream.split("order"));
  const count = pay.kind === "uneven" && hard ? 1 : Math.max(2, Math.round(pay.share * all.length));
  const full = pay.kind === "uneven" && !hard ? Math.ceil(count / 3) : count;
  return new Map(order.map((answer, i) => [answer, i < full ? 1 : i < count ? 0.6 : 0]));
}
