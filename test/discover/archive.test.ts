/** The archive of a search: which candidates come next, and what stays. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import {
  type Archive,
  begun,
  bestOf,
  lineageOf,
  type Node,
  startsOf,
  withMade,
} from "../../src/discover/archive.ts";

const node = (id: number, parent: number | null, score: number, more: Partial<Node> = {}): Node => ({
  ...{ id, parent, score, candidate: `c${id}`, bestChild: null, visits: 0, at: id + 1 },
  ...more,
});
const archive = (nodes: readonly Node[]): Archive => ({
  nodes,
  next: nodes.length,
  evaluations: 0,
  valid: 0,
  bests: [],
});
const random = randomStream(1);

test("PUCT weighs a candidate's best child, its rank and its visits", () => {
  // T = 8, G = 8, so that √(1 + T/G) = 1.414; scale = 0.6 − 0.2 = 0.4
  const nodes = [
    node(0, null, 0.1, { bestChild: 0.6, visits: 8 }), // 0.6 + 0.4 · 1/6 · 1.414 / 2 = 0.647
    node(1, 0, 0.6), //                                    0.6 + 0.4 · 3/6 · 1.414     = 0.883
    node(2, 0, 0.2), //                                    0.2 + 0.4 · 2/6 · 1.414     = 0.389
  ];
  assert.deepEqual(
    startsOf(archive(nodes), "puct", { count: 2, group: 8 }, random),
    [1, 2],
    "their ancestor is blocked",
  );
  const tried = nodes.map((one) => (one.id === 1 ? { ...one, visits: 64, bestChild: 0.55 } : one));
  // 0.55 + 0.4 · 3/6 · 1.414 / 9 = 0.581 < 0.647: now the start itself, whose descendants are then blocked
  assert.deepEqual(startsOf(archive(tried), "puct", { count: 3, group: 8 }, random), [0]);
});

test("visits count upwards, also of what has no score; the two best new children of a start stay", () => {
  const start = begun([{ candidate: "a", score: 1 }]);
  assert.deepEqual([start.evaluations, start.bests], [1, [{ at: 1, score: 1 }]]);
  const made = [
    { from: 0, candidate: "b", score: 2 },
    { from: 0, candidate: "c", score: 4 },
    { from: 0, candidate: undefined, score: undefined },
    { from: 0, candidate: "d", score: 3 },
    { from: 0, candidate: "a", score: 1 },
  ];
  const once = withMade(start, made, "puct");
  assert.deepEqual(
    once.nodes.map(({ candidate, visits, bestChild, at }) => [candidate, visits, bestChild, at]),
    [
      ["a", 5, 4, 1],
      ["c", 0, null, 3],
      ["d", 0, null, 5],
    ],
  );
  assert.deepEqual([once.evaluations, once.valid], [6, 4]);
  const c = bestOf(once)!;
  const twice = withMade(once, [{ from: c.id, candidate: "e", score: 5 }], "puct");
  assert.equal(twice.nodes[0]!.visits, 6, "of the start too");
  assert.deepEqual(
    lineageOf(twice, bestOf(twice)!).map(({ candidate }) => candidate),
    ["a", "c", "e"],
  );
  assert.deepEqual(twice.bests, [
    { at: 1, score: 1 },
    { at: 2, score: 2 },
    { at: 3, score: 4 },
    { at: 7, score: 5 },
  ]);
  assert.equal(withMade(start, made, "evolution").nodes.length, 4, "evolution keeps every new candidate");
});

test("fifty survive in evolution, and the lineage of each is whole", () => {
  let now = begun([{ candidate: "0", score: 0 }]);
  for (let i = 1; i <= 120; i++) {
    const { id } = bestOf(now)!;
    now = withMade(now, [{ from: id, candidate: `${i}`, score: i % 2 === 0 ? i : -i }], "evolution");
  }
  const best = bestOf(now)!;
  assert.equal(best.score, 120);
  assert.equal(lineageOf(now, best).length, 61);
  assert.ok(now.nodes.length < 121 && now.nodes.some(({ parent }) => parent === null));
  const drawn = startsOf(now, "evolution", { count: 200, group: 8 }, random).map(
    (id) => now.nodes.find((n) => n.id === id)!.score,
  );
  const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b) / xs.length;
  assert.ok(mean(drawn) > mean(now.nodes.map(({ score }) => score)) + 10, "better ones are drawn more often");
});
