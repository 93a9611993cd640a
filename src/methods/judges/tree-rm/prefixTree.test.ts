import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { leafPairs, prefixTree, sharedDepth } from "./prefixTree.ts";

const size = { branching: 3, depth: 3 };
/** Every segment is a fresh number, so that replies differ wherever paths do. */
const distinct = (prefix: readonly number[], _depth: number, random: { readonly seed: number }) => [
  ...prefix,
  random.seed,
];
const tree = () => prefixTree<readonly number[]>([], distinct, size, randomStream(4));
const same = (a: readonly number[], b: readonly number[]): boolean => a.join() === b.join();

test("a tree has branching ** depth leaves, and leaves with a common path share its segments", () => {
  const leaves = tree();
  assert.equal(leaves.length, 27);
  for (const a of leaves)
    for (const b of leaves) {
      const shared = a.reply.findIndex((segment, d) => segment !== b.reply[d]);
      assert.equal(sharedDepth(a, b), shared < 0 ? 3 : shared);
    }
  const depths: number[] = [];
  const noting = (prefix: readonly number[], depth: number): readonly number[] => {
    depths.push(depth);
    return prefix;
  };
  prefixTree([], noting, size, randomStream(1));
  assert.deepEqual(depths.slice(0, 4), [0, 0, 0, 1]);
});

test("leafPairs: common ancestors at all depths alike, or as leaves fall, or at the last segment alone", () => {
  const shares = (rule: "depths" | "leaves" | "siblings") => {
    const pairs = leafPairs(tree(), 6000, rule, same, randomStream(2));
    return [0, 1, 2].map((depth) => pairs.filter(([a, b]) => sharedDepth(a, b) === depth).length / 6000);
  };
  const close = (got: readonly number[], want: readonly number[]): void =>
    assert.ok(
      got.every((x, i) => Math.abs(x - want[i]!) < 0.02),
      `${got}, not ${want}`,
    );
  close(shares("depths"), [1 / 3, 1 / 3, 1 / 3]);
  // of 27 · 26 ordered pairs, 18, 6 and 2 partners of each leaf part at the first, second and last segment
  close(shares("leaves"), [18 / 26, 6 / 26, 2 / 26]);
  close(shares("siblings"), [0, 0, 1]);
});

test("leafPairs leaves out equal replies", () => {
  // the last segment is always the same: siblings are equal
  const leaves = prefixTree<readonly number[]>(
    [],
    (prefix, depth, random) => [...prefix, depth === 2 ? 0 : random.seed],
    size,
    randomStream(4),
  );
  const pairs = leafPairs(leaves, 200, "depths", same, randomStream(1));
  assert.ok(pairs.every(([a, b]) => sharedDepth(a, b) < 2));
  assert.throws(() => leafPairs(leaves, 1, "siblings", same, randomStream(1)), /no pairs/);
});
