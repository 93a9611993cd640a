/** A lineage as branches: what goes on stands below each other, and what went another way is a branch of its own. */

export interface Descended {
  readonly id: string;
  readonly parents: readonly string[];
}

/** A version, and the branches that leave from it beside the one that goes on. */
export interface Stop<T> {
  readonly of: T;
  readonly branches: readonly (readonly Stop<T>[])[];
}

/**
 * The branches that begin with versions whose first parent does not stand before them. Each version stands once, below its
 * first parent. Of several children the one with the most generations after it goes on, and of equals the last.
 *
 * @param versions oldest first: whatever they say of their parents, none comes from what was made later.
 */
export function branchesOf<T extends Descended>(versions: readonly T[]): readonly (readonly Stop<T>[])[] {
  const children = new Map<string, T[]>();
  const roots: T[] = [];
  for (const version of versions) {
    const [parent] = version.parents;
    (children.get(parent ?? "") ?? roots).push(version);
    children.set(version.id, []);
  }
  const generations = new Map<string, number>();
  for (const { id } of versions.toReversed()) generations.set(id, 1 + farthest(children.get(id) ?? []));
  function farthest(of: readonly T[]): number {
    return Math.max(0, ...of.map(({ id }) => generations.get(id) ?? 0));
  }
  const branch = (from: T): readonly Stop<T>[] => {
    const stops: Stop<T>[] = [];
    for (let at: T | undefined = from; at; ) {
      const next: readonly T[] = children.get(at.id) ?? [];
      const far = farthest(next);
      const onward: T | undefined = next.findLast(({ id }) => generations.get(id) === far);
      stops.push({ of: at, branches: next.filter((child) => child !== onward).map(branch) });
      at = onward;
    }
    return stops;
  };
  return roots.map(branch);
}
