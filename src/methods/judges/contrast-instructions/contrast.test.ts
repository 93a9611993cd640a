import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { consistency } from "./consistency.ts";
import { adversarialSynonyms, hullVertices, type Point, randomSynonyms } from "./convexHull.ts";
import { fusedReward } from "./rewardFusion.ts";

test("consistency: both roles of each item, ties count half", () => {
  // r(I, ·) knows better; r(I′, ·) does not; y is matched with I′ and y′ is a tie
  const item = { own: 2, ownCross: 1, otherCross: 3, other: 1 };
  assert.deepEqual(consistency([item]), { response: 0.5, instruction: (0 + 0.5) / 2 });
  const good = { own: 1, ownCross: 0, otherCross: 0, other: 1 };
  assert.deepEqual(consistency([good]), { response: 1, instruction: 1 });
  assert.deepEqual(consistency([good, item]), { response: 0.75, instruction: 0.625 });
  // an offset of one prompt changes C_ins and leaves C_res
  const shifted = { ...good, otherCross: 5, other: 6 };
  assert.deepEqual(consistency([shifted]), { response: 1, instruction: 0.5 });
});

test("hullVertices: corners alone, without inner points, points on edges and repetitions", () => {
  const square: Point[] = [
    [1, 1],
    [0, 0],
    [2, 0],
    [2, 2],
    [0, 2],
    [1, 0],
    [2, 2],
  ];
  assert.deepEqual(hullVertices(square), [1, 2, 3, 4]);
  assert.deepEqual(hullVertices([[1, 1]]), [0]);
  assert.deepEqual(
    hullVertices([
      [3, 0],
      [1, 1],
    ]),
    [1, 0],
  );
  assert.deepEqual(
    hullVertices([
      [0, 0],
      [1, 1],
      [2, 2],
    ]),
    [0, 2],
    "a line has two ends",
  );
});

test("adversarialSynonyms: lowest reward for the preferred reply, highest for the other", () => {
  const worth = [
    [0, -1, 2],
    [0, 3, -4],
  ];
  const rewardOf = (synonyms: readonly number[]): number =>
    synonyms.reduce((sum, synonym, place) => sum + worth[place]![synonym]!, 0);
  const all = () => [0, 1, 2];
  const seen = (preferred: boolean) =>
    new Set(
      Array.from({ length: 60 }, (_, i) =>
        adversarialSynonyms([0, 0], preferred, all, rewardOf, randomStream(i)).join(),
      ),
    );
  assert.deepEqual(seen(true), new Set(["0,0", "1,0", "0,2", "1,2"]));
  assert.deepEqual(seen(false), new Set(["0,0", "2,0", "0,1", "2,1"]));
  // only candidates may be used
  assert.ok(
    Array.from({ length: 30 }, (_, i) =>
      adversarialSynonyms([0, 0], true, () => [1], rewardOf, randomStream(i)),
    ).every((synonyms) => !synonyms.includes(2)),
  );
});

test("randomSynonyms: half of the places, candidates alike", () => {
  const counts = [0, 0, 0];
  for (let i = 0; i < 3000; i++) counts[randomSynonyms([0], () => [1, 2], randomStream(i))[0]!]! += 1 / 3000;
  for (const [i, want] of [0.5, 0.25, 0.25].entries())
    assert.ok(Math.abs(counts[i]! - want) < 0.03, `${counts}`);
});

test("fusedReward is worked by hand", () => {
  const known = [
    { hidden: [1, 0], reward: 4 },
    { hidden: [0, 2], reward: -2 },
    { hidden: [-1, 0], reward: 100 },
  ];
  // similarities 1 and 0 at temperature 1: weights e and 1
  const want = 0.5 * 1 + (0.5 * (Math.E * 4 - 2)) / (Math.E + 1);
  const got = fusedReward({ hidden: [3, 0], reward: 1 }, known, {
    share: 0.5,
    neighbours: 2,
    temperature: 1,
  });
  assert.ok(Math.abs(got - want) < 1e-12, `${got}`);
  assert.equal(fusedReward({ hidden: [3, 0], reward: 1 }, []), 1);
  assert.equal(fusedReward({ hidden: [3, 0], reward: 1 }, known, { share: 0 }), 1);
});
