/**
 * Prefix trees of replies, and pairs of their leaves.
 * Paper: "Reward Generalization in RLHF: A Topological Perspective".
 */
import type { Random } from "../../../core/random.ts";

/** A full reply, and the child taken at each depth; leaves that share the first d entries share the first d segments. */
export interface Leaf<Reply> {
  readonly reply: Reply;
  readonly path: readonly number[];
}

/**
 * Grows a tree: from every prefix, `branching` continuations by one segment are drawn, `depth` times. A reply is a path from the root to a
 * leaf; there are branching ** depth of them.
 * @param grow continues a prefix by the segment of this depth, from 0.
 */
export function prefixTree<Prefix>(
  root: Prefix,
  grow: (prefix: Prefix, depth: number, random: Random) => Prefix,
  { branching, depth }: { readonly branching: number; readonly depth: number },
  random: Random,
): Leaf<Prefix>[] {
  let level: Leaf<Prefix>[] = [{ reply: root, path: [] }];
  for (let d = 0; d < depth; d++) {
    level = level.flatMap(({ reply, path }) =>
      Array.from({ length: branching }, (_, child) => {
        const own = [...path, child];
        return { reply: grow(reply, d, random.split(...own)), path: own };
      }),
    );
  }
  return level;
}

/** Number of segments that two leaves share: the depth of their last common ancestor. */
export function sharedDepth(a: Leaf<unknown>, b: Leaf<unknown>): number {
  const parting = a.path.findIndex((child, d) => child !== b.path[d]);
  return parting < 0 ? a.path.length : parting;
}

/**
 * How pairs of leaves are drawn. "depths": the depth of the last common ancestor is uniform over 0 … depth − 1, then the pair is uniform.
 * "leaves": both leaves are uniform. "siblings": only leaves that part at the last segment.
 */
export type PairRule = "depths" | "leaves" | "siblings";

/**
 * Pairs of different replies, with repetition. Pairs of equal replies are left out: they would be ties.
 * @throws Error where the tree has no pair that the rule allows.
 */
export function leafPairs<Reply>(
  leaves: readonly Leaf<Reply>[],
  count: number,
  rule: PairRule,
  same: (a: Reply, b: Reply) => boolean,
  random: Random,
): (readonly [Leaf<Reply>, Leaf<Reply>])[] {
  const byDepth = new Map<number, (readonly [Leaf<Reply>, Leaf<Reply>])[]>();
  leaves.forEach((a, i) => {
    for (const b of leaves.slice(i + 1)) {
      if (same(a.reply, b.reply)) continue;
      const depth = sharedDepth(a, b);
      byDepth.set(depth, [...(byDepth.get(depth) ?? []), [a, b]]);
    }
  });
  const depths = [...byDepth.keys()].sort((a, b) => a - b);
  const last = (leaves[0]?.path.length ?? 0) - 1;
  const allowed = rule === "siblings" ? depths.filter((depth) => depth === last) : depths;
  if (allowed.length === 0) throw new Error(`no pairs of different replies for the rule "${rule}"`);
  const pools =
    rule === "leaves" ? [[...byDepth.values()].flat()] : allowed.map((depth) => byDepth.get(depth)!);
  return Array.from({ length: count }, () => {
    const pool = pools[random.below(pools.length)]!;
    return pool[random.below(pool.length)]!;
  });
}
