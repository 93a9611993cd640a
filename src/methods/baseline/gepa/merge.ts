/** Merges two candidates: takes from each the texts that it changed. */

import { joinedOrigins } from "../../../common/artefacts/origins.ts";
import { mapById } from "../../../common/mapById.ts";
import type { InstructionSet } from "../../../core/artefact.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import type { Id } from "../../../core/types.ts";
import { componentsOf, lengthOf, textIn, withText } from "./components.ts";
import { meanScore, type Scored, undominated } from "./pareto.ts";

/** A candidate with its origin. */
export interface Descended extends Scored {
  readonly parents: readonly Id[];
}

export interface Merged {
  readonly of: readonly [Id, Id];
  readonly set: InstructionSet;
  /** Merges with equal keys give equal results. */
  readonly key: string;
}

/**
 * Merges two candidates of the front with a common ancestor that is neither of them and earned no more than either. A text
 * that only one of them changed is taken from that one; a text that both changed differently is taken from the one with
 * the higher mean. At least one text must be changed by only one of them. Takes the first fitting pair and ancestor in
 * random order.
 * @param tried keys of merges that were tried.
 * @param most characters of all texts together.
 * @returns undefined if no pair fits. A set with a single text never merges.
 * Paper: "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning".
 */
export function mergeOf(
  members: readonly Descended[],
  setOf: (id: Id) => InstructionSet,
  tried: ReadonlySet<string>,
  random: Random,
  most = Number.POSITIVE_INFINITY,
): Merged | undefined {
  const byId = mapById(members);
  const front = shuffled(undominated(members), random.split("pair"));
  for (const [i, a] of front.entries()) {
    for (const b of front.slice(i + 1)) {
      const [above, beside] = [ancestorsOf(a.id, byId), ancestorsOf(b.id, byId)];
      if (above.has(b.id) || beside.has(a.id)) continue;
      const shared = [...above].flatMap((id) => (beside.has(id) ? (byId.get(id) ?? []) : []));
      for (const ancestor of shuffled(shared, random.split("ancestor", a.id, b.id))) {
        if (meanScore(ancestor) > Math.min(meanScore(a), meanScore(b))) continue;
        const merged = together(setOf(ancestor.id), [a, b], setOf);
        if (merged && !tried.has(merged.key) && lengthOf(merged.set) <= most) return merged;
      }
    }
  }
  return undefined;
}

function together(
  ancestor: InstructionSet,
  [a, b]: readonly [Descended, Descended],
  setOf: (id: Id) => InstructionSet,
): Merged | undefined {
  const [first, second] = [setOf(a.id), setOf(b.id)];
  const better = meanScore(b) > meanScore(a) ? second : first;
  let complementary = false;
  let set: InstructionSet = {
    ...first,
    origins: joinedOrigins("merge", [first.origins, second.origins]),
  };
  const from: string[] = [];
  for (const component of componentsOf(first)) {
    const [old, mine, other] = [ancestor, first, second].map((one) => textIn(one, component));
    const changedByOne = mine !== other && (old === mine || old === other);
    complementary ||= changedByOne;
    const chosen = changedByOne ? (old === mine ? second : first) : better;
    from.push(mine === other || chosen === first ? a.id : b.id);
    set = withText(set, component, textIn(chosen, component));
  }
  return complementary
    ? { of: [a.id, b.id], set, key: [a.id, b.id].sort().concat(from).join(" ") }
    : undefined;
}

function ancestorsOf(id: Id, byId: ReadonlyMap<Id, Descended>): ReadonlySet<Id> {
  const found = new Set<Id>();
  const look = (one: Id): void => {
    for (const parent of byId.get(one)?.parents ?? []) {
      if (found.has(parent)) continue;
      found.add(parent);
      look(parent);
    }
  };
  look(id);
  return found;
}

/**
 * Tasks of the preliminary evaluation of a merged candidate: a third where the first parent was better, a third where the
 * second was, a third where they were equal; other tasks fill up where one of these has too few.
 */
export function telling(a: Scored, b: Scored, count: number, random: Random): readonly Id[] {
  const common = shuffled(
    Object.keys(a.scores).filter((task) => Object.hasOwn(b.scores, task)),
    random,
  );
  const lead = (task: Id): number => Math.sign((a.scores[task] ?? 0) - (b.scores[task] ?? 0));
  const third = Math.ceil(count / 3);
  const some = [1, -1, 0].flatMap((side) => common.filter((task) => lead(task) === side).slice(0, third));
  return [...new Set([...some.slice(0, count), ...common])].slice(0, count);
}
