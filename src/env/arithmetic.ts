/** Arithmetic problems, as sums or small stories, with one whole number as the answer, which is checked exactly. */
import { type Random, randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import type { Environment } from "./environment.ts";
import { readSum } from "./expressions.ts";
import { type Tried, tried } from "./tries.ts";

/** Settings of {@link arithmetic}. */
export interface ArithmeticOptions {
  /** Largest number of answers per episode. Default 3. */
  readonly turns?: number;
  /** Default 1. */
  readonly seed?: number;
}

const sizes: Readonly<Record<string, number>> = { train: 200, validation: 50, test: 100, longer: 100 };
/** Above every value of four numbers below ten with at most one product, wrong calculations included. */
const largest = 250;
const names = ["ann", "ben", "eva", "tom"];
const things = ["apples", "books", "coins", "eggs"];

interface Problem {
  readonly asked: string;
  /** The sum that answers it. */
  readonly sum: string;
}

/** A sum of `length` numbers with at most one product, e.g. `3 + 4 * 2`. */
function drawnSum(length: number, random: Random): Problem {
  const product = random.below(length);
  let sum = String(random.below(10));
  for (let k = 1; k < length; k++) {
    const sign = k === product ? "*" : random.below(2) === 0 ? "+" : "-";
    sum += ` ${sign} ${random.below(10)}`;
  }
  return { asked: `what is ${sum} ?`, sum };
}

/** `ann has 3 eggs , gets 4 and loses 2 . how many now ?`; one more change where it is to be longer. */
function drawnStory(changes: number, random: Random): Problem {
  const [name, thing] = [names[random.below(names.length)]!, things[random.below(things.length)]!];
  const packs = random.below(2) === 0;
  const first = 1 + random.below(9);
  const size = 2 + random.below(8);
  let asked = packs ? `${name} has ${first} packs of ${size} ${thing}` : `${name} has ${first} ${thing}`;
  let sum = packs ? `${first} * ${size}` : String(first);
  for (let k = 0; k < changes; k++) {
    const [gets, n] = [random.below(2) === 0, 1 + random.below(9)];
    asked += ` ${k === changes - 1 && changes > 1 ? "and" : ","} ${gets ? "gets" : "loses"} ${n}`;
    sum += ` ${gets ? "+" : "-"} ${n}`;
  }
  return { asked: `${asked} . how many ${thing} now ?`, sum };
}

function worth(sum: string): number {
  const read = readSum(sum);
  return "value" in read && read.value.below === 1 ? read.value.above : Number.NaN;
}

/** Computes from left to right without precedence, and adds the last number whatever its sign: two common mistakes. */
function careless(sum: string): number {
  const [first, ...rest] = sum.split(" ");
  let value = Number(first);
  for (let k = 0; k + 1 < rest.length; k += 2) {
    const [sign, n] = [rest[k], Number(rest[k + 1])];
    if (sign === "*") value *= n;
    else value += sign === "+" || k + 2 === rest.length ? n : -n;
  }
  return value;
}

/** Feedback on an answer; "right" for a right one. */
function feedbackOn(task: Task, said: string): string {
  if (!/^-?\d{1,9}$/.test(said)) return "not a whole number";
  const more = Number(said) - Number(task.reference);
  return more === 0 ? "right" : more > 0 ? "too high" : "too low";
}

function grade(task: Task, reply: string): Tried {
  const text = feedbackOn(task, reply);
  return { rewards: { outcome: text === "right" ? 1 : 0 }, text };
}

/**
 * Each turn is an answer, one whole number; the first right one ends the episode. The next observation says whether a wrong
 * answer is too high or too low (after the last turn, the step's text says it). `outcome` is 1 or 0, at the end. Half of the
 * tasks are sums, half are stories; those of the split "longer" have one number more than any training task. The flawed
 * player computes from left to right without precedence, always adds the last number, and repeats its answer.
 */
export function arithmetic(options: ArithmeticOptions = {}): Environment {
  const { turns = 3, seed = 1 } = options;

  /** All tasks of all splits, without duplicates. */
  const all = new Map<string, readonly Task[]>();
  const known = new Set<string>();
  for (const [split, size] of Object.entries(sizes)) {
    const tasks: Task[] = [];
    for (let drawn = 0; tasks.length < size; drawn++) {
      const stream = randomStream(seed).split("arithmetic", split, drawn);
      const more = split === "longer" ? 1 : 0;
      const { asked, sum } =
        tasks.length % 2 === 0
          ? drawnSum(2 + more + (more ? 1 : stream.below(2)), stream)
          : drawnStory(1 + more + (more ? 1 : stream.below(2)), stream);
      if (known.has(asked)) continue;
      known.add(asked);
      tasks.push({
        id: `arithmetic/${split}/${tasks.length}`,
        prompt: [{ role: "user", content: asked }],
        reference: String(worth(sum)),
        metadata: { sum },
        seed: stream.seed,
      });
    }
    all.set(split, tasks);
  }

  return tried({
    name: "arithmetic",
    summary:
      "sums and small stories with one number for an answer; wrong ones are told to be too high or low",
    splits: Object.keys(sizes),
    turns,
    actionTokens: 2,
    vocabulary: () => [
      ...Array.from({ length: 2 * largest + 1 }, (_, i) => String(i - largest)),
      ...names,
      ...things,
      "what is + - * ? has packs of , and gets loses . how many now",
      "right not a whole number too high low",
    ],
    tasks: (split) => all.get(split) ?? [],
    grade,
    flawed: (task) => String(careless(String(task.metadata.sum))),
  });
}
