/** The Pareto front of candidates: per task, the best ones. */

import { mean } from "../../../common/statistics/statistics.ts";
import { present } from "../../../core/errors.ts";
import type { Random } from "../../../core/random.ts";
import type { Id } from "../../../core/types.ts";

/** A candidate with its reward on each task of the front. */
export interface Scored {
  readonly id: Id;
  readonly scores: Readonly<Record<Id, number>>;
}

/** Mean over its tasks. */
export const meanScore = ({ scores }: Scored): number => mean(Object.values(scores));

/** The candidates with the highest reward on each task; several if they tie. */
export function fronts(members: readonly Scored[]): ReadonlyMap<Id, ReadonlySet<Id>> {
  const best = new Map<Id, { score: number; ids: Set<Id> }>();
  for (const { id, scores } of members) {
    for (const [task, score] of Object.entries(scores)) {
      const known = best.get(task);
      if (!known || score > known.score) best.set(task, { score, ids: new Set([id]) });
      else if (score === known.score) known.ids.add(id);
    }
  }
  return new Map([...best].map(([task, { ids }]) => [task, ids]));
}

/**
 * The non-dominated candidates: beginning with the lowest mean, a candidate is removed if at each task where it is among
 * the best another remaining candidate is as well. Being the only best at one task is enough to stay, whatever the mean.
 * Paper: "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning".
 */
export function undominated<M extends Scored>(members: readonly M[]): readonly M[] {
  const byTask = [...fronts(members).values()];
  const stay = new Set(byTask.flatMap((ids) => [...ids]));
  const lowestFirst = members
    .filter(({ id }) => stay.has(id))
    .toSorted((a, b) => meanScore(a) - meanScore(b));
  for (const { id } of lowestFirst) {
    const own = byTask.filter((ids) => ids.has(id));
    if (own.every((ids) => [...ids].some((other) => other !== id && stay.has(other)))) stay.delete(id);
  }
  return members.filter(({ id }) => stay.has(id));
}

/** A candidate of the front, drawn in proportion to the number of tasks at which it is among the best. */
export function drawnParent<M extends Scored>(members: readonly M[], random: Random): M {
  const byTask = [...fronts(members).values()];
  const tickets = undominated(members).flatMap((one) =>
    byTask.filter((ids) => ids.has(one.id)).map(() => one),
  );
  // without measurements there is no front
  const drawn = tickets[random.below(Math.max(1, tickets.length))] ?? members[0];
  return present(drawn, "drawnParent", "candidate");
}

/** The candidate with the highest mean; ties go to the earliest. */
export const bestOf = <M extends Scored>(members: readonly M[]): M | undefined =>
  members.reduce<M | undefined>((a, b) => (a && meanScore(a) >= meanScore(b) ? a : b), undefined);
