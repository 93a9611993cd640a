/** Vectors of texts without any model: words and their parts, hashed. */
import { type Encoder, unitVector } from "../core/encoder.ts";
import { WhetstoneError } from "../core/errors.ts";

/** Settings of {@link hashedText}. */
export interface HashedTextOptions {
  /** Numbers in a vector, a power of two of 16 or more. Default 256. */
  readonly width?: number;
  /** Weight of a word's parts beside the whole word's 1. Default 1. */
  readonly parts?: number;
}

/** Words that say little of what a text is about, at a tenth of the weight. */
const little = new Set(
  "a an and are as at be been but by can do does for from had has have he her his how i if in into is it its me my no not of on or our s she so t that the their them then there they this to was we were what when which who will with would you your".split(
    " ",
  ),
);

/** Places of the vector that one feature is added to. */
const places = 4;

/**
 * A text's words, and the runs of three and four letters in each with its ends marked, as a sparse random projection:
 *
 *     v[h_j(f)] += ± w(f) √n(f)        j = 1 … 4, f: a word or a part of one, n: how often it occurs, signs by hash
 *
 * and v / |v|. A word weighs 1, one that says little 0.1, and its parts together `parts` times as much: words with a
 * common stem lie close, and so do words with a slip of the pen. Likeness is of wording, not of meaning; the cosine of two
 * texts is that of their weighted features, give or take 1/√width. Letters of every script count, case does not.
 *
 * No package, no network, no state: equal texts have equal vectors everywhere. Some ten microseconds a word.
 * Papers: "Feature Hashing for Large Scale Multitask Learning"; "Very Sparse Random Projections"; parts of words as in
 * "Enriching Word Vectors with Subword Information".
 */
export function hashedText(options: HashedTextOptions = {}): Encoder {
  const { width = 256, parts = 1 } = options;
  if (!Number.isInteger(Math.log2(width)) || width < 16) {
    throw new WhetstoneError("option.range", {
      where: "hashedText: width",
      got: `${width}`,
      expected: "a power of two of 16 or more",
      mend: "Choose 256, or 512 for long texts.",
    });
  }
  return {
    id: `hashed-text/${width}/${parts}`,
    width,
    embed: async (texts) => texts.map((text) => hashedVector(text, { width, parts })),
  };
}

/** One text's vector of {@link hashedText}. */
export function hashedVector(text: string, { width = 256, parts = 1 }: HashedTextOptions = {}): Float32Array {
  const counts = new Map<string, number>();
  for (const word of wordsIn(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const sums = new Float64Array(width);
  const add = (feature: string, weight: number): void => {
    const base = hashOf(feature);
    for (let j = 0; j < places; j++) {
      const hash = mixed(base + Math.imul(j, 0x9e3779b1));
      sums[(hash >>> 1) & (width - 1)]! += hash & 1 ? weight : -weight;
    }
  };
  for (const [word, count] of counts) {
    const weight = (little.has(word) ? 0.1 : 1) * Math.sqrt(count);
    add(word, weight);
    const runs = partsOf(word);
    for (const run of runs) add(run, (weight * parts) / Math.sqrt(runs.length));
  }
  return unitVector(sums);
}

/** Words in small letters: runs of letters and digits of any script. */
export const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Runs of three and four characters of a word with its ends marked; of a very long word, those of its beginning. */
function partsOf(word: string): string[] {
  const marked = `<${word.slice(0, 40)}>`;
  const out: string[] = [];
  for (const length of [3, 4])
    for (let i = 0; i + length <= marked.length; i++) out.push(marked.slice(i, i + length));
  return out;
}

/** FNV-1a over UTF-16 units. */
function hashOf(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h;
}

/** MurmurHash3's last steps: every bit comes to depend on all of them. */
function mixed(h: number): number {
  let x = h | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
