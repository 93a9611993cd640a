/** Text features: a bag of words, of bigrams, and of skip-bigrams with one word between. */
import type { Features } from "./ridge.ts";

/**
 * The count of each word, bigram and skip-bigram, divided by the number of words and times `scale`. Mean-pooled, so that a
 * longer text has no larger features. Empty for a text without words.
 */
export function wordGrams(words: readonly string[], scale = 1): Features {
  const counts = new Map<string, number>();
  const add = (gram: string): void => void counts.set(gram, (counts.get(gram) ?? 0) + scale / words.length);
  words.forEach((word, i) => {
    add(word);
    if (i > 0) add(`${words[i - 1]} ${word}`);
    if (i > 1) add(`${words[i - 2]} … ${word}`);
  });
  return Object.fromEntries(counts);
}
