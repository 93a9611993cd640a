import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import type { InstructionFunction } from "./checkable.ts";
import { multiLevelReward } from "./method.ts";
import { interRows, intraRows, requestAndReply } from "./multiLevel.ts";

/** One kind for each of two letters: it asks for the letter's case, `A` or `a`. */
const letterCase =
  (letter: string): InstructionFunction =>
  (reply, obeyed) => {
    const upper = reply.includes(letter.toUpperCase());
    const wanted = upper === obeyed ? letter.toUpperCase() : letter;
    return { text: `want-${wanted}`, obeys: (other) => other.includes(wanted) };
  };
const functions = ["a", "b"].map(letterCase);
const pair = (first: string, second: string, y = 1) => ({
  first: { asked: "go", replied: first },
  second: { asked: "go", replied: second },
  y,
  weight: 2,
});
const drawn = <T>(make: (seed: number) => T): T[] => Array.from({ length: 60 }, (_, i) => make(i));

test("requestAndReply: words of the request, words of the reply, and their pairs", () => {
  assert.deepEqual(requestAndReply({ asked: "go now", replied: "A" }), {
    "go →": 1,
    "now →": 1,
    A: 1,
    "go → A": 1,
    "now → A": 1,
  });
});

test("intraRows: one reply, two requests; everything that they share cancels", () => {
  const rows = drawn((seed) =>
    intraRows([pair("A b", "a B")], { functions, most: 1 }, randomStream(seed)),
  ).flat();
  // one kind: the preferred reply `A b` obeys want-A or want-b, and breaks want-a or want-B
  const wanted = [
    ["A", "a"],
    ["b", "B"],
  ].map(([obeyed, broken]) => ({
    [`want-${obeyed} →`]: 1,
    [`want-${obeyed} → A`]: 1,
    [`want-${obeyed} → b`]: 1,
    [`want-${broken} →`]: -1,
    [`want-${broken} → A`]: -1,
    [`want-${broken} → b`]: -1,
  }));
  for (const row of rows) {
    assert.deepEqual([row.y, row.weight], [1, 2]);
    assert.ok(wanted.some((x) => JSON.stringify(sorted(x)) === JSON.stringify(sorted(row.x))));
  }
  assert.equal(new Set(rows.map((row) => JSON.stringify(sorted(row.x)))).size, 2);
});

test("intraRows: with two kinds, all against some or none, and some against none", () => {
  const features = ({ asked }: { readonly asked: string }) => ({
    // how many of the request's instructions the reply `A b` obeys
    obeyed: asked.split(" ").filter((w) => w === "want-A" || w === "want-b").length,
    of: asked.split(" ").length - 1,
  });
  const rows = drawn((seed) =>
    intraRows([pair("A b", "a B")], { functions, most: 2, featuresOf: features }, randomStream(seed)),
  ).flat();
  assert.ok(
    rows.every(({ x }) => x.of === undefined),
    "both requests have equally many instructions",
  );
  assert.deepEqual(new Set(rows.map(({ x }) => x.obeyed)), new Set([1, 2]));
  // the reply of the row is the preferred one, also where that is the second
  const other = drawn((seed) =>
    intraRows([pair("a B", "A b", 0)], { functions, featuresOf: features }, randomStream(seed)),
  ).flat();
  assert.ok(other.every(({ x }) => (x.obeyed ?? 0) > 0));
});

test("interRows: the margin with the instructions against the margin without, in both directions", () => {
  const rows = drawn((seed) =>
    interRows([pair("A b", "a b")], { functions, most: 2 }, randomStream(seed)),
  ).flat();
  // want-A (wider) and want-a (narrower) tell the replies apart, want-b does not
  const wide = { "want-A → A": 1, "want-A → a": -1 };
  const narrow = { "want-a → A": -1, "want-a → a": 1 };
  const found = new Set(rows.map((row) => JSON.stringify(sorted(row.x))));
  assert.deepEqual(found, new Set([wide, narrow].map((x) => JSON.stringify(sorted(x)))));
  assert.deepEqual(interRows([pair("A b", "A b")], { functions }, randomStream(1)), []);
});

test("multiLevelReward: both levels teach what comparisons of replies cannot", async () => {
  const pairs = Array.from({ length: 40 }, () => ({
    ...pair("A b", "a B"),
    second: { asked: "go", replied: "a B" },
  }));
  const rows = pairs.map(({ first, second }) => ({ x: { first, second }, y: 1, weight: 1 }));
  const asked = "go want-a";
  const margin = async (options: Parameters<typeof multiLevelReward>[0]): Promise<number> => {
    const reward = multiLevelReward({ functions, learningRate: 0.1, strength: 1e-2, ...options })(
      randomStream(2),
    );
    await reward.fit(rows);
    const [m] = await reward.predict([
      { first: { asked, replied: "A B" }, second: { asked, replied: "a B" } },
    ]);
    return m!;
  };
  const without = await margin({ intra: 0, inter: 0 });
  assert.ok(without > 0.5, `${without}`);
  assert.ok((await margin({ inter: 0 })) < without - 0.5);
  assert.ok((await margin({ intra: 0 })) < without - 0.5);
});

function sorted(x: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(x).sort(([a], [b]) => (a < b ? -1 : 1)));
}
