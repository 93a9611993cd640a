/** Critiques as units that a meta-judge labels one by one: what is merged, and what a critique is worth. */

/** One remark of a critique. */
export interface CritiqueUnit {
  /** What it is about: place and flaw. Two units of one key say the same. */
  readonly key: string;
  /** Whether the meta-judge accepts it. */
  readonly accepted: boolean;
}

/** The accepted units of several critiques, each key once. */
export const mergedUnits = (critiques: readonly (readonly CritiqueUnit[])[]): ReadonlySet<string> =>
  new Set(critiques.flat().flatMap(({ key, accepted }) => (accepted ? [key] : [])));

/** Penalties of {@link critiqueScore}. */
export interface Penalties {
  /** Of a unit that is not accepted. Default 1. */
  readonly wrong?: number;
  /** Of an accepted unit of others that the critique lacks. Default 0.5. */
  readonly missed?: number;
}

/**
 *     q = −w · units that are not accepted − w_miss · merged units that the critique lacks          at most 0
 *
 * More units never raise it by themselves. Without a penalty for what is missed, the critique that says nothing has 0 and beats all others.
 */
export function critiqueScore(
  units: readonly CritiqueUnit[],
  merged: ReadonlySet<string>,
  { wrong = 1, missed = 0.5 }: Penalties = {},
): number {
  const said = new Set(units.map(({ key }) => key));
  const lacking = [...merged].filter((key) => !said.has(key)).length;
  return -wrong * units.filter(({ accepted }) => !accepted).length - missed * lacking;
}

/** A critique with its score and the mean worth of the revisions that were made with it. */
export interface Rated {
  readonly score: number;
  readonly revised: number;
}

/**
 * Pairs (better, worse) of critiques on one attempt, by their scores; kept only where following the better one led to better revisions as well.
 * Equal scores, or equal revisions, make no pair. Paper: "Training Language Models to Critique With Multi-agent Feedback" (MARV).
 */
export function checkedPairs<C extends Rated>(
  critiques: readonly C[],
  check = true,
): readonly (readonly [C, C])[] {
  return critiques.flatMap((a, i) =>
    critiques.slice(i + 1).flatMap((b): (readonly [C, C])[] => {
      if (a.score === b.score) return [];
      const [better, worse] = a.score > b.score ? [a, b] : [b, a];
      return !check || better.revised > worse.revised ? [[better, worse]] : [];
    }),
  );
}

/** Weight of a pair that a reward model orders rightly with probability p: (1 − 2 max(0, p − ½))^γ, so that what is sure counts little. */
export const focalWeight = (p: number, gamma: number): number => (1 - 2 * Math.max(0, p - 0.5)) ** gamma;
