import type { Rank } from "../common/artefacts/applyArtefact.ts";
import { dot } from "../core/encoder.ts";
import { type HashedTextOptions, hashedVector } from "./hashedText.ts";

/** Settings of {@link likeness}. */
export interface LikenessOptions extends HashedTextOptions {
  /** Cosines up to this value occur between unrelated texts and count as 0. Default 0.15. */
  readonly least?: number;
  /** Number of texts whose vectors are cached. Default 10,000. */
  readonly remembered?: number;
}

/**
 * Ranks the parts of an artefact by the cosine of hashed texts, so that "printers jammed" finds "the printer jams", which
 * shares no whole word with it. 0 for unrelated texts.
 *
 * @example applied(cases, messages, { rank: likeness() })
 */
export function likeness({ least = 0.15, remembered = 10_000, ...options }: LikenessOptions = {}): Rank {
  const known = new Map<string, Float32Array>();
  const vectorOf = (text: string): Float32Array => {
    const found = known.get(text);
    if (found) return found;
    if (known.size >= remembered) known.clear();
    const made = hashedVector(text, options);
    known.set(text, made);
    return made;
  };
  return (situation, texts) => {
    const here = hashedVector(situation, options);
    return texts.map((text) => {
      const cosine = dot(here, vectorOf(text));
      return cosine <= least ? 0 : cosine;
    });
  };
}
