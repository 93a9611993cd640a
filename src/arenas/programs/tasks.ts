/** Requests in words for list programs. A vague phrase has one of three meanings, which only tests tell. */
import { type Random, randomStream, shuffled } from "../../core/random.ts";
import { run } from "./language.ts";

/** What a wrong choice among the meanings of a vague phrase shows in: results of another length, or with other values. */
export type Shows = "length" | "value";

/** A part of a request. */
export interface Phrase {
  readonly text: string;
  /** Its meanings as steps of a program. Of three, a later one gives longer lists or higher values. */
  readonly meanings: readonly string[];
  readonly shows?: Shows;
  /** A word that another language has for it, and this one has not. */
  readonly foreign?: string;
}

const vague = (text: string, shows: Shows, ...meanings: readonly string[]): Phrase => ({
  text,
  shows,
  meanings,
});
const clear = (text: string, meaning: string, foreign?: string): Phrase => ({
  text,
  meanings: [meaning],
  ...(foreign !== undefined && { foreign }),
});

/** A request takes at most one phrase of each kind, and one vague phrase. */
const kinds: readonly (readonly Phrase[])[] = [
  [
    vague("large", "length", "most 1", "most 2", "most 3"),
    vague("small", "length", "least 1", "least 2", "least 3"),
    clear("even", "pairs", "mod"),
    clear("odd", "odds", "rem"),
  ],
  [
    vague("raise", "value", "add 1", "add 2", "add 3"),
    clear("double", "times 2", "twice"),
    clear("triple", "times 3", "thrice"),
  ],
  [clear("rising", "up", "sort"), clear("falling", "down", "desc"), clear("turned", "flip", "reverse")],
  [
    vague("front", "length", "first 1", "first 2", "first 3"),
    vague("end", "length", "last 1", "last 2", "last 3"),
  ],
];

export const phrases: ReadonlyMap<string, Phrase> = new Map(
  kinds.flat().map((phrase) => [phrase.text, phrase]),
);
export const joint = " ";

/** What a task is made of, besides its request. */
export interface Made {
  readonly request: string;
  /** A right program. */
  readonly program: string;
  /** Lists of the tests; the first few are shown. */
  readonly inputs: readonly (readonly number[])[];
}

export const shownTests = 3;
const hiddenTests = 5;
const length = 7;

export const phrasesOf = (request: string): readonly Phrase[] =>
  request.split(joint).map((text) => phrases.get(text)!);

/** A request with a drawn meaning; undefined unless one of its phrases is vague. */
export function drawn(random: Random): Made | undefined {
  const chosen = shuffled(kinds, random)
    .slice(0, 2 + random.below(3))
    .map((kind) => kind[random.below(kind.length)]!);
  if (chosen.filter(({ shows }) => shows).length !== 1) return undefined;
  const program = chosen.map(({ meanings }) => meanings[random.below(meanings.length)]!).join(" ");
  const inputs = Array.from({ length: shownTests + hiddenTests }, () =>
    Array.from({ length }, () => random.below(10)),
  );
  const isEmpty = run(program, inputs).every((result) => "list" in result && result.list.length === 0);
  return isEmpty ? undefined : { request: chosen.map(({ text }) => text).join(joint), program, inputs };
}

export const sizes: Readonly<Record<string, number>> = { train: 900, validation: 80, test: 200 };

/** All meanings of a request are in one split, so that no program of a test task is a training task's. */
const splitOf = (request: string): string => {
  const share = randomStream("programs").split("split", request).next();
  return share < 0.7 ? "train" : share < 0.8 ? "validation" : "test";
};

/** @param solvable whether a player without knowledge of the meaning can solve it. */
export function draw(solvable: (made: Made) => boolean): ReadonlyMap<string, readonly Made[]> {
  const found = new Map(Object.keys(sizes).map((split) => [split, new Map<string, Made>()]));
  const isFull = (): boolean => [...found].every(([split, made]) => made.size === sizes[split]);
  for (let i = 0; !isFull(); i++) {
    const made = drawn(randomStream("programs").split("task", i));
    if (!made) continue;
    const split = splitOf(made.request);
    const into = found.get(split)!;
    const key = `${made.request}: ${made.program}`;
    if (into.size < sizes[split]! && !into.has(key) && solvable(made)) into.set(key, made);
  }
  return new Map([...found].map(([split, made]) => [split, [...made.values()]]));
}
