/** Text embeddings without a model: hashed words and subwords. */
import { type Encoder, unitVector } from "../core/encoder.ts";
import { WhetstoneError } from "../core/errors.ts";

/** Settings of {@link hashedText}. */
export interface HashedTextOptions {
  /** Dimension of a vector: a power of two, ≥ 16. Default 256. */
  readonly width?: number;
  /** Total weight of a word's parts, relative to 1 for the whole word. Default 1. */
  readonly parts?: number;
}

/** Stop words, with a tenth of the weight. */
const little = new Set(
  "a an and are as at be been but by can do does for from had has have he her his how i if in into is it its me my no not of on or our s she so t that the their them then there they this to was we were what when which who will with would you your".split(
    " ",
  ),
);

/** Number of coordinates that one feature is added to. */
const places = 4;

/**
 * A text's words, and the character 3-grams and 4-grams of each with marked ends, as a sparse random projection:
 *
 *     v[h_j(f)] += ± w(f) √n(f)        j = 1 … 4, f: a word or a part of one, n: its count, signs by hash
 *
 * and v / |v|. A word weighs 1, a stop word 0.1, and its parts together `parts` times as much, so words with a common stem or
 * a typing error lie close. Similarity is lexical, not semantic; the cosine of two texts approximates that of their weighted
 * features, with an error of about 1/√width. Letters of every script count; case is ignored.
 *
 * Needs no package, network or state: equal texts have equal vectors on every machine. About ten microseconds per word.
 * Papers: "Feature Hashing for Large Scale Multitask Learning"; "Very Sparse Random Projections"; parts of words as in
 * "Enriching Word Vectors with Subword Information".
 */
export function hashedText(options: HashedTextOptions = {}): Encoder {
  const { width = 256, parts = 1 } = options;
  if (!Number.isInteger(Math.log2(width)) || width < 16) {
    throw new WhetstoneError("option.range", {
      where: "hashedText: width",
      got: `${width}`,
      expected: "a power of two, at least 16",
      fix: "Choose 256, or 512 for long texts.",
    });
  }
  return {
    id: `hashed-text/${width}/${parts}`,
    width,
    embed: async (texts) => texts.map((text) => hashedVector(text, { width, parts })),
  };
}

/** The {@link hashedText} vector of one text. */
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

/** Lower-case words: runs of letters and digits of any script. */
export const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Character 3-grams and 4-grams of a word with marked ends; for a very long word, only those of its beginning. */
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

/** MurmurHash3's finaliser: every output bit depends on all input bits. */
function mixed(h: number): number {
  let x = h | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
