import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenBy } from "../../../common/artefacts/origins.ts";
import type { InstructionSet } from "../../../core/artefact.ts";
import { randomStream } from "../../../core/random.ts";
import { mergeOf, telling } from "./merge.ts";
import { bestOf, drawnParent, fronts, undominated } from "./pareto.ts";

const member = (id: string, scores: readonly number[], parents: readonly string[] = []) => ({
  id,
  parents,
  scores: Object.fromEntries(scores.map((score, i) => [`t${i}`, score])),
});
const ids = (some: readonly { readonly id: string }[]) => some.map(({ id }) => id);

// best at t0: b and c, at t1: a, at t2: b, at t3: c and d
const a = member("a", [0, 1, 0, 0]); // mean 0.25
const b = member("b", [0.5, 0.5, 1, 0]); // mean 0.5
const c = member("c", [0.5, 0, 0, 1]); // mean 0.375
const d = member("d", [0, 0, 0, 1]); // mean 0.25

test("fronts: all who earned most at a task, and nobody else", () => {
  const found = [...fronts([a, b, c, d])].map(([task, who]) => [task, [...who].sort().join()]);
  assert.deepEqual(found, [
    ["t0", "b,c"],
    ["t1", "a"],
    ["t2", "b"],
    ["t3", "c,d"],
  ]);
});

test("undominated: who is covered at each of its tasks goes, the lowest mean first; a specialist stays", () => {
  // d (0.25) is covered at t3 by c and goes; c then stays, since t3 needs it; a stays for t1 alone
  assert.deepEqual(ids(undominated([a, b, c, d])), ["a", "b", "c"]);
  assert.deepEqual(ids(undominated([a])), ["a"]);
  assert.deepEqual(undominated([]), []);
});

test("drawnParent: in proportion to the tasks at which a candidate is among the best", () => {
  // a: t1; b: t0, t2; c: t0, t3; together 5 tickets
  const counts = { a: 0, b: 0, c: 0, d: 0 };
  for (let i = 0; i < 5000; i++)
    counts[drawnParent([a, b, c, d], randomStream(1).split(i)).id as keyof typeof counts]++;
  assert.equal(counts.d, 0);
  for (const [id, share] of [["a", 0.2] as const, ["b", 0.4] as const, ["c", 0.4] as const])
    assert.ok(Math.abs(counts[id] / 5000 - share) < 0.03, `${id}: ${counts[id]}`);
  assert.equal(drawnParent([member("x", [])], randomStream(1)).id, "x", "before anything is measured");
  assert.throws(() => drawnParent([], randomStream(1)), /no candidate/);
});

test("bestOf: the highest mean, of equals the earliest", () => {
  assert.equal(bestOf([a, d, c])?.id, "c");
  assert.equal(bestOf([a, d])?.id, "a");
  assert.equal(bestOf([]), undefined);
});

const set = (system: string, search: string): InstructionSet => ({
  kind: "instructions",
  system,
  tools: { search },
  examples: [],
  origins: { ...writtenBy("test"), trajectories: [`${system}${search}`] },
});
const family = [
  member("root", [0, 0]),
  member("left", [1, 0], ["root"]),
  member("right", [0, 1], ["root"]),
  member("child", [1, 0], ["left"]),
];
const merged = (
  sets: Readonly<Record<string, InstructionSet>>,
  members = family.slice(0, 3),
  tried = new Set<string>(),
) => mergeOf(members, (id) => sets[id]!, tried, randomStream(3));

test("mergeOf: each text from who changed it, with the origins of both", () => {
  const sets = { root: set("s", "q"), left: set("S", "q"), right: set("s", "Q") };
  const found = merged(sets);
  assert.deepEqual(found?.of.toSorted(), ["left", "right"]);
  assert.equal(found?.set.system, "S");
  assert.deepEqual(found?.set.tools, { search: "Q" });
  assert.deepEqual(found?.set.origins.trajectories.toSorted(), ["Sq", "sQ"]);
  assert.equal(merged(sets, undefined, new Set([found!.key])), undefined, "not twice");
});

test("mergeOf: none that is longer than allowed, though both that it is made from are not", () => {
  const sets = { root: set("s", "q"), left: set("SSSS", "q"), right: set("s", "QQQQ") };
  const within = (most: number) =>
    mergeOf(family.slice(0, 3), (id) => sets[id as keyof typeof sets], new Set(), randomStream(3), most);
  assert.equal(within(8)?.set.system, "SSSS");
  assert.equal(within(7), undefined);
});

test("mergeOf: a text that both changed is that of the higher mean, if another one was changed by one of them alone", () => {
  const better = [family[0]!, member("left", [1, 0.5], ["root"]), family[2]!];
  const sets = { root: set("s", "q"), left: set("L", "q"), right: set("R", "Q") };
  assert.equal(merged(sets, better)?.set.system, "L");
  assert.equal(merged(sets, better)?.set.tools.search, "Q");
  const clash = { root: set("s", "q"), left: set("L", "l"), right: set("R", "r") };
  assert.equal(merged(clash, better), undefined, "nothing that one of them alone had changed");
});

test("mergeOf: no candidate with its own ancestor, none over an ancestor that was better than one of them", () => {
  const sets = { root: set("s", "q"), left: set("S", "q"), child: set("S", "Q"), right: set("s", "Q") };
  assert.equal(merged(sets, [family[0]!, family[1]!, member("child", [0, 1], ["left"])]), undefined);
  assert.equal(merged(sets, [member("root", [0.6, 0.6]), ...family.slice(1, 3)]), undefined);
});

test("telling: tasks from each side and from those that are alike, others where one side has too few", () => {
  const one = member("one", [1, 1, 1, 0, 0.5, 0.5]);
  const other = member("other", [0, 0, 0, 1, 0.5, 0.5]);
  const found = telling(one, other, 5, randomStream(2));
  // two of t0 to t2, t3, and both of t4 and t5
  assert.equal(found.length, 5);
  assert.equal(found.filter((task) => ["t0", "t1", "t2"].includes(task)).length, 2);
  assert.ok(["t3", "t4", "t5"].every((task) => found.includes(task)));
  assert.equal(telling(one, other, 9, randomStream(2)).length, 6, "never one twice");
});
