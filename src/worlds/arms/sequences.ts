/** Tabular policies over whole short sequences. */
import { randomStream } from "../../core/random.ts";
import { type Prior, tabularEngine } from "../../engine/tabular/engine.ts";

/**
 * A table over whole prefixes with normally distributed initial logits; words that match `never` have probability 0.
 * @param deviation of the logits.
 */
export function scattered(
  seed: number,
  deviation: number,
  { never = /^(<end>|q\d+)$/, bias }: { readonly never?: RegExp; readonly bias?: Prior } = {},
) {
  const stream = randomStream(seed).split("logits");
  const prior: Prior = (context, word) =>
    never.test(word)
      ? -1e9
      : deviation * stream.split(context.join(" "), word).normal() + (bias?.(context, word) ?? 0);
  return tabularEngine({ prior });
}
