/** A text as a bag of words, of pairs of neighbours, and of pairs with one word between them. */
import type { Features } from "./ridge.ts";

/**
 * How often each word, each pair of neighbouring words and each pair around one word occurs, per word of the text times
 * `scale`. Mean-pooled, so that a longer text has no larger features. Empty for no words.
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
