/** Countdown: reach a target with given numbers. Expressions are parsed exactly and never evaluated as code. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import type { Environment } from "./environment.ts";
import { readSum } from "./expressions.ts";
import { type Tried, tried } from "./tries.ts";

/** Settings of {@link countdown}. */
export interface CountdownOptions {
  /** Largest number of answers per episode. Default 3. */
  readonly turns?: number;
  /** Numbers given. Default 3; the split "unseen" has one more. */
  readonly numbers?: number;
  /** Default 1. */
  readonly seed?: number;
}

const sizes: Readonly<Record<string, number>> = { train: 200, validation: 50, test: 100, unseen: 100 };
const largestNumber = 12;
const largestTarget = 100;
const operators = ["+", "-", "*", "/"] as const;

const numbersOf = (task: Task): readonly number[] => task.metadata.numbers as readonly number[];
const targetOf = (task: Task): number => Number(task.metadata.target);

/** Feedback on a sum; "right" for a right one. */
function feedbackOn(task: Task, said: string): string {
  const read = readSum(said);
  if ("wrong" in read) return `cannot be taken : ${read.wrong}`;
  const left = [...numbersOf(task)];
  for (const number of read.numbers) {
    const at = left.indexOf(number);
    if (at < 0) return numbersOf(task).includes(number) ? `uses ${number} too often` : "uses other numbers";
    left.splice(at, 1);
  }
  if (left.length > 0) return `does not use ${left[0]}`;
  const { above, below } = read.value;
  if (below !== 1) return "is no whole number";
  const more = above - targetOf(task);
  return more === 0 ? "right" : more > 0 ? "is too high" : "is too low";
}

/** A sum of these numbers whose intermediate values are all whole, as text, with its value. */
function built(
  numbers: readonly number[],
  random: Random,
): { readonly text: string; readonly value: number } | undefined {
  let parts = numbers.map((n) => ({ text: String(n), value: n, plain: true }));
  while (parts.length > 1) {
    const [a, b, ...rest] = shuffled(parts, random);
    const sign = operators[random.below(operators.length)]!;
    const value = {
      "+": a!.value + b!.value,
      "-": a!.value - b!.value,
      "*": a!.value * b!.value,
      "/": a!.value / b!.value,
    }[sign];
    if (!Number.isInteger(value) || value < 0) return undefined;
    const side = (part: { readonly text: string; readonly plain: boolean }): string =>
      part.plain ? part.text : `( ${part.text} )`;
    parts = [...rest, { text: `${side(a!)} ${sign} ${side(b!)}`, value, plain: false }];
  }
  return parts[0];
}

function grade(task: Task, reply: string): Tried {
  const text = feedbackOn(task, reply);
  return { rewards: { outcome: text === "right" ? 1 : 0 }, text };
}

/**
 * Each turn is a sum over the given numbers, every one used exactly once, with + - * / and brackets; it is computed with
 * exact fractions. The first one that equals the target ends the episode. The next observation says what is wrong with a
 * sum (after the last turn, the step's text says it). `outcome` is 1 or 0, at the end. Every task has a solution. The flawed
 * player uses the numbers in order with two random operators.
 */
export function countdown(options: CountdownOptions = {}): Environment {
  const { turns = 3, numbers: given = 3, seed = 1 } = options;

  /** All tasks of all splits, without duplicates. */
  const all = new Map<string, readonly Task[]>();
  const known = new Set<string>();
  for (const [split, size] of Object.entries(sizes)) {
    const tasks: Task[] = [];
    for (let drawn = 0; tasks.length < size; drawn++) {
      const stream = randomStream(seed).split("countdown", split, drawn);
      const numbers = Array.from(
        { length: split === "unseen" ? given + 1 : given },
        () => 1 + stream.below(largestNumber),
      );
      const sum = built(numbers, stream);
      if (!sum || sum.value < 1 || sum.value > largestTarget) continue;
      const key = `${numbers.toSorted((a, b) => a - b).join(" ")} to ${sum.value}`;
      if (known.has(key)) continue;
      known.add(key);
      tasks.push({
        id: `countdown/${split}/${tasks.length}`,
        prompt: [{ role: "user", content: `reach ${sum.value} with ${numbers.join(" ")}` }],
        reference: sum.text,
        metadata: { numbers, target: sum.value },
        seed: stream.seed,
      });
    }
    all.set(split, tasks);
  }

  const counts = Array.from({ length: largestTarget + 1 }, (_, n) => String(n));
  return tried({
    name: "countdown",
    summary: "reach a number with the numbers given, each used once; what is wrong with a sum is said",
    splits: Object.keys(sizes),
    turns,
    actionTokens: 6 * given,
    vocabulary: () => [
      ...counts,
      ...operators,
      "( ) reach with right cannot be taken : no sum too long divides by zero large uses often other numbers",
      "does not use is no whole number too high low",
    ],
    tasks: (split) => all.get(split) ?? [],
    grade,
    flawed(task, _conversation, random) {
      const any = (): string => operators[random.below(operators.length)]!;
      return numbersOf(task).reduce((text, n, i) => (i === 0 ? String(n) : `${text} ${any()} ${n}`), "");
    },
  });
}
