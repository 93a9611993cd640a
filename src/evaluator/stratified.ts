/** Chooses what to judge next of a stream, where not all of it can be judged. */
import { hash } from "node:crypto";

/** Something that may be judged. */
export interface Judgeable {
  readonly id: string;
  /** What it is a sample of, such as a version's sessions with feedback. */
  readonly stratum: string;
}

/**
 * Takes the strata in turn, the one of which least was judged first, so that a rare one is judged as often as a common one as
 * long as it has items. Within a stratum the order is that of a hash of the ids: a random choice that a second look repeats.
 * @param judged how many items of each stratum were judged before. @param most items to choose.
 * @returns ids, in the order of their choice.
 */
export function stratified(
  items: readonly Judgeable[],
  judged: ReadonlyMap<string, number>,
  most: number,
): readonly string[] {
  const groups = [...Map.groupBy(items, ({ stratum }) => stratum)].sort(([a], [b]) => (a < b ? -1 : 1));
  const strata = groups.map(([stratum, own]) => ({
    count: judged.get(stratum) ?? 0,
    left: own.map(({ id }) => ({ id, place: hash("sha1", id) })).sort((a, b) => (a.place < b.place ? -1 : 1)),
  }));
  const chosen: string[] = [];
  while (chosen.length < most) {
    const open = strata.filter(({ left }) => left.length > 0);
    if (open.length === 0) break;
    const next = open.reduce((least, one) => (one.count < least.count ? one : least));
    chosen.push(next.left.shift()!.id);
    next.count++;
  }
  return chosen;
}
