/** From quotes to characters, and from characters to action tokens. */
import type { Mark } from "../../core/critique.ts";
import type { Codec } from "../../core/model.ts";
import type { Span, Turn } from "../../core/types.ts";
import { matchingRatio } from "./similarity.ts";

/** Characters [from, to) of a text. */
export type Extent = readonly [from: number, to: number];

/**
 * Where a quote stands in a text: its first occurrence as words of their own, else its first at all, letters' case aside
 * and line breaks as blanks; else the part of as many words that is most like it, by `matchingRatio`, if at least `least`
 * of it is (0.5 unless told); else nowhere. Of parts equally alike the first counts. In a long text a long quote is
 * compared with some parts alone, see {@link partsLike}.
 */
export function quoteIn(text: string, quote: string, least = 0.5): Extent | undefined {
  const [said, shown] = [spaced(quote.trim()), spaced(text)];
  if (said === "") return undefined;
  // some letters change their length with their case
  const lower = shown.toLowerCase();
  const [there, whole] = lower.length === text.length ? [said.toLowerCase(), lower] : [said, shown];
  const alone = ` ${whole} `.indexOf(` ${there} `);
  const at = alone >= 0 ? alone : whole.indexOf(there);
  if (at >= 0) return [at, at + there.length];
  if (least >= 1) return undefined;
  let best: { readonly ratio: number; readonly extent: Extent } | undefined;
  for (const extent of partsLike(whole, there)) {
    const ratio = matchingRatio(whole.slice(...extent), there);
    if (ratio >= least && ratio > (best?.ratio ?? 0)) best = { ratio, extent };
  }
  return best?.extent;
}

/**
 * The parts of a text of as many words as a quote has, in their order. Comparing one takes the square of the quote's
 * length: where that would be long, only those that share most words with it are given, 20 at least.
 */
function partsLike(text: string, quote: string): readonly Extent[] {
  const words = [...text.matchAll(/\S+/g)];
  const quoted = new Set(quote.split(/\s+/));
  const length = quote.split(/\s+/).length;
  const shared = [0];
  for (const [word] of words) shared.push(shared.at(-1)! + Number(quoted.has(word)));
  const starts = Array.from({ length: Math.max(0, words.length - length + 1) }, (_, i) => i);
  const common = (i: number): number => shared[i + length]! - shared[i]!;
  const most = Math.max(20, Math.floor(1e6 / quote.length ** 2));
  const kept =
    starts.length <= most
      ? starts
      : starts
          .toSorted((a, b) => common(b) - common(a))
          .slice(0, most)
          .sort((a, b) => a - b);
  return kept.map((i) => {
    const last = words[i + length - 1]!;
    return [words[i]!.index, last.index + last[0].length];
  });
}

/** Every kind of white space as a blank, in its place. */
const spaced = (text: string): string => text.replace(/\s/g, " ");

/** What a critic quotes of a trajectory. */
export interface Quote {
  readonly text: string;
  readonly good: boolean;
  /** Where it is to be looked for. Default: in every turn, the first that has it word for word, else the first alike. */
  readonly turn?: number;
}

/** Quotes as marks, in their order. One that is found nowhere, or overlaps an earlier one, is dropped. */
export function marksOf(turns: readonly Pick<Turn, "action">[], quotes: readonly Quote[]): readonly Mark[] {
  const marks: Mark[] = [];
  for (const { text, good, turn } of quotes) {
    const places = turn === undefined ? [...turns.keys()] : [turn];
    for (const least of [1, 0.5]) {
      const found = places.flatMap((k): readonly Mark[] => {
        const extent = quoteIn(turns[k]?.action.content ?? "", text, least);
        return extent ? [{ turn: k, from: extent[0], to: extent[1], good }] : [];
      })[0];
      if (!found) continue;
      if (!marks.some((m) => m.turn === found.turn && m.from < found.to && found.from < m.to))
        marks.push(found);
      break;
    }
  }
  return marks;
}

/**
 * The action tokens that characters [from, to) of a turn's text lie in, without the blanks around them. Undefined where
 * nothing is left, and where the text is not what the tokens say.
 */
export function markedSpan({ action, tokens }: Turn, codec: Codec, { from, to }: Mark): Span | undefined {
  const part = action.content.slice(from, to);
  const [start, end] = [from + part.length - part.trimStart().length, from + part.trimEnd().length];
  if (!tokens || start >= end || codec.decode(tokens.action) !== action.content) return undefined;
  const written = (count: number): number => codec.decode(tokens.action.subarray(0, count)).length;
  const count = tokens.action.length;
  return [leastWith(count, (i) => written(i + 1) > start), leastWith(count, (i) => written(i) >= end)];
}

/** The least i in 0…n for which a condition that stays true holds; n where it never does. */
function leastWith(n: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
