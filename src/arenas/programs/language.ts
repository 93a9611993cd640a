/** A language of list programs: words that change a list of whole numbers, from left to right. */

/** What came of a program on one list. */
export type Result = { readonly list: readonly number[] } | { readonly error: string };

type Operation = (list: readonly number[], n: number) => readonly number[];

/** The first n in the order of the comparison, where they stand in the list; of equal numbers the ones in front. */
function extreme(list: readonly number[], n: number, compare: (a: number, b: number) => number): number[] {
  const places = list.map((_, i) => i).toSorted((i, j) => compare(list[i]!, list[j]!) || i - j);
  const kept = new Set(places.slice(0, n));
  return list.filter((_, i) => kept.has(i));
}

/** Words that take a number. */
const withNumber: Readonly<Record<string, Operation>> = {
  most: (list, n) => extreme(list, n, (a, b) => b - a),
  least: (list, n) => extreme(list, n, (a, b) => a - b),
  add: (list, n) => list.map((x) => x + n),
  times: (list, n) => list.map((x) => x * n),
  first: (list, n) => list.slice(0, n),
  last: (list, n) => list.slice(Math.max(0, list.length - n)),
};
/** Words that take none. */
const alone: Readonly<Record<string, Operation>> = {
  pairs: (list) => list.filter((x) => x % 2 === 0),
  odds: (list) => list.filter((x) => x % 2 !== 0),
  up: (list) => list.toSorted((a, b) => a - b),
  down: (list) => list.toSorted((a, b) => b - a),
  flip: (list) => list.toReversed(),
};

export const languageWords: readonly string[] = [...Object.keys(withNumber), ...Object.keys(alone)];
/** Numbers that a program may contain: 0 to this. */
export const largestNumber = 9;

interface Step {
  readonly operation: Operation;
  readonly n: number;
}

const lookUp = (table: Readonly<Record<string, Operation>>, word: string): Operation | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
const isNumber = (word: string | undefined): word is string => word !== undefined && /^\d$/.test(word);

/** A program's steps, or in words why it is none. */
function parsed(program: string): readonly Step[] | string {
  const words = program.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return "empty program";
  const steps: Step[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const next = words[at + 1];
    const plain = lookUp(alone, word);
    const numbered = lookUp(withNumber, word);
    if (plain) steps.push({ operation: plain, n: 0 });
    else if (!numbered) return isNumber(word) ? `${word} is no step` : `unknown word ${word}`;
    else if (!isNumber(next)) return `${word} needs a number`;
    else {
      steps.push({ operation: numbered, n: Number(next) });
      at++;
    }
  }
  return steps;
}

/** Runs a program on each list. */
export function run(program: string, inputs: readonly (readonly number[])[]): readonly Result[] {
  const steps = parsed(program);
  return inputs.map((input) =>
    typeof steps === "string"
      ? { error: steps }
      : { list: steps.reduce<readonly number[]>((list, { operation, n }) => operation(list, n), input) },
  );
}

/** A text's words, step by step: a word and its number, also where the language has no such word. */
export function stepsIn(program: string): readonly string[] {
  const steps: string[] = [];
  for (const word of program.split(/\s+/).filter((w) => w !== "")) {
    const before = steps.at(-1);
    if (isNumber(word) && before !== undefined && !/\d/.test(before))
      steps[steps.length - 1] = `${before} ${word}`;
    else steps.push(word);
  }
  return steps;
}

/** Largest distance from 0 of a number that is written out. */
const farthest = 20;
export const writtenNumbers: readonly string[] = [
  ...Array.from({ length: 2 * farthest + 1 }, (_, i) => String(i - farthest)),
  "huge",
];
const written = (list: readonly number[]): string =>
  list.length === 0
    ? "nothing"
    : list.map((x) => (Math.abs(x) > farthest ? "huge" : String(x + 0))).join(" ");

const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((x, i) => x === b[i]);

/** How a list differs from the one that was wanted; undefined if it does not. */
function difference(got: readonly number[], want: readonly number[]): string | undefined {
  if (isSame(got, want)) return undefined;
  if (got.length !== want.length) return got.length < want.length ? "too short" : "too long";
  const less = sum(got) - sum(want);
  if (less !== 0) return less < 0 ? "too low" : "too high";
  const ascending = (list: readonly number[]) => list.toSorted((a, b) => a - b);
  return isSame(ascending(got), ascending(want)) ? "wrong order" : "other numbers";
}

/** All of what `difference` and `verdict` may say, but for numbers and words of the program. */
export const messageWords: readonly string[] = [
  "right",
  "empty program",
  "is no step",
  "unknown word",
  "needs a number",
  "test gives nothing not : too short long low high wrong order other numbers",
  "the tests shown pass , a hidden test fails",
];

/** How a program did in tests, of which the first few may be shown to its author. */
export interface Verdict {
  /** Share of tests passed, in [0, 1]. */
  readonly passed: number;
  /** The first thing that is wrong; "right" where nothing is. */
  readonly message: string;
}

/** @param wanted a right program. @param shown number of tests, from the first, that a message may quote. */
export function verdict(
  program: string,
  wanted: string,
  inputs: readonly (readonly number[])[],
  shown: number,
): Verdict {
  const got = run(program, inputs);
  const want = run(wanted, inputs);
  let message = "";
  let passed = 0;
  for (const [i, result] of got.entries()) {
    const right = want[i]!;
    if ("error" in right) throw new Error(`"${wanted}": ${right.error}`);
    if ("error" in result) return { passed: 0, message: result.error };
    const differs = difference(result.list, right.list);
    if (differs === undefined) passed++;
    else
      message ||=
        i < shown
          ? `test ${i + 1} gives ${written(result.list)} not ${written(right.list)} : ${differs}`
          : "the tests shown pass , a hidden test fails";
  }
  return { passed: passed / inputs.length, message: message || "right" };
}
