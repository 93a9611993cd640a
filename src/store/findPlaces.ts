/** Finds matches of rules in a text of any length, one stretch at a time, so that other work gets a turn in between. */
import type { Interruptible } from "../common/files/slices.ts";
import type { Finder, Rule } from "./personalData.ts";

/** Most characters and matcher steps per stretch. */
const [longestStretch, mostSteps] = [1 << 15, 1e7];
/** Characters before a position that a lookbehind may read. */
const lookedBack = 64;

/** Start and end of each match, flat, in text order. */
export interface Found {
  readonly rule: Rule;
  readonly places: Int32Array;
}

/** Finds the matches of all rules; a range belongs to the first rule that finds it. */
export function* findPlaces(text: string, rules: readonly Rule[]): Interruptible<readonly Found[]> {
  /** 1 for each character that a rule has matched. */
  let taken: Uint8Array | undefined;
  const all: Found[] = [];
  for (const [rule, finder] of rules.flatMap((rule) => rule.finders.map((one) => [rule, one] as const))) {
    const found = yield* placesOf(text, finder);
    if (found.length === 0) continue;
    const own = numbers();
    for (let i = 0; i < found.length; i += 2) {
      const [from, to] = [found[i]!, found[i + 1]!];
      taken ??= new Uint8Array(text.length);
      if (i % 4096 === 0) yield;
      if (isTaken(taken, from, to)) continue;
      taken.fill(1, from, to);
      own.push(from, to);
    }
    all.push({ rule, places: own.all() });
  }
  return all;
}

function isTaken(taken: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (taken[i] === 1) return true;
  return false;
}

/** Matches of one finder, independent of other finders. */
function* placesOf(text: string, finder: Finder): Interruptible<Int32Array> {
  const { pattern, reach, shortest, steps = 1, length, block } = finder;
  if (text.length < shortest) return new Int32Array();
  const stretch = Math.max(64, Math.min(longestStretch, Math.floor(mostSteps / steps)));
  const places = numbers();
  for (let at = 0; at < text.length; ) {
    const start = Math.max(0, at - lookedBack);
    const until = Math.min(text.length, at + stretch);
    const part = text.slice(start, until + reach);
    pattern.lastIndex = at - start;
    at = until;
    for (let match = pattern.exec(part); match; match = pattern.exec(part)) {
      const from = start + match.index;
      if (from >= until) break;
      const [found] = match;
      if (found === "") pattern.lastIndex++;
      // the next stretch begins after the last match of this one
      at = Math.max(until, from + found.length);
      const counts = length ? length(found) : found.length;
      if (counts > 0) places.push(from, from + counts);
    }
    yield;
  }
  return block ? blocksIn(text, places.all(), block) : places.all();
}

/** Ranges from a beginning mark to the next end mark within reach, from the first beginning that reaches it. */
function blocksIn(
  text: string,
  marks: Int32Array,
  { isEnd, longest }: NonNullable<Finder["block"]>,
): Int32Array {
  const blocks = numbers();
  /** Index of the first mark since the last end. */
  let first = 0;
  for (let i = 0; i < marks.length; i += 2) {
    const to = marks[i + 1]!;
    if (!isEnd(text, marks[i]!)) continue;
    while (first < i && to - marks[first]! > longest) first += 2;
    if (first < i) blocks.push(marks[first]!, to);
    first = i + 2;
  }
  return blocks.all();
}

/** A growable Int32Array: for millions of numbers a JavaScript array takes four times the memory, and garbage collection time. */
function numbers(): { push(from: number, to: number): void; all(): Int32Array } {
  let held = new Int32Array(64);
  let length = 0;
  return {
    push(from, to) {
      if (length === held.length) {
        const more = new Int32Array(2 * length);
        more.set(held);
        held = more;
      }
      held[length++] = from;
      held[length++] = to;
    },
    all: () => held.subarray(0, length),
  };
}
