/** Maps quotes to character ranges, and character ranges to action tokens. */
import type { Mark } from "../../core/critique.ts";
import type { Codec } from "../../core/model.ts";
import type { Span, Turn } from "../../core/types.ts";
import { matchingRatio } from "./similarity.ts";

/** Characters [from, to) of a text. */
export type Extent = readonly [from: number, to: number];

/**
 * Locates a quote in a text, ignoring case and with line breaks as blanks: its first occurrence as whole words, else its
 * first occurrence at all, else the part with as many words that is most similar by `matchingRatio`, if the ratio is at
 * least `least` (default 0.5), else undefined. Among equally similar parts the first is taken. For a long quote in a long
 * text only some parts are compared, see {@link partsLike}.
 */
export function quoteIn(text: string, quote: string, least = 0.5): Extent | undefined {
  const [said, shown] = [spaced(quote.trim()), spaced(text)];
  if (said === "") return undefined;
  // lower case can change the length of some letters
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
 * The parts of a text with as many words as the quote, in order. A comparison takes time quadratic in the quote's length;
 * where that is too slow, only the parts that share the most words with the quote are returned, at least 20.
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

/** Replaces every white-space character by a blank; positions stay the same. */
const spaced = (text: string): string => text.replace(/\s/g, " ");

/** A critiquer's quote from a trajectory. */
export interface Quote {
  readonly text: string;
  readonly good: boolean;
  /** The turn to search. Default: all turns; the first with an exact match, else the first with a similar part. */
  readonly turn?: number;
}

/** Converts quotes to marks, in order. A quote that is not found, or overlaps an earlier one, is dropped. */
export function attributesOf(
  turns: readonly Pick<Turn, "action">[],
  quotes: readonly Quote[],
): readonly Mark[] {
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
 * The action tokens that contain characters [from, to) of a turn's text, without surrounding blanks. Undefined where
 * nothing remains, and where the tokens do not decode to the text.
 */
export function markedSpan({ action, tokens }: Turn, codec: Codec, { from, to }: Mark): Span | undefined {
  const part = action.content.slice(from, to);
  const [start, end] = [from + part.length - part.trimStart().length, from + part.trimEnd().length];
  if (!tokens || start >= end || codec.decode(tokens.action) !== action.content) return undefined;
  const written = (count: number): number => codec.decode(tokens.action.subarray(0, count)).length;
  const count = tokens.action.length;
  return [leastWith(count, (i) => written(i + 1) > start), leastWith(count, (i) => written(i) >= end)];
}

/** Binary search: the least i in [0, n) for which a monotone condition holds; n where it never does. */
function leastWith(n: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
