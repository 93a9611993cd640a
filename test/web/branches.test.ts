import assert from "node:assert/strict";
import { test } from "node:test";
import { branchesOf, type Stop } from "../../web/src/parts/branches.ts";

interface One {
  readonly id: string;
  readonly parents: readonly string[];
}
/** "c<ab": c was made from a and b. */
const versions = (text: string): One[] =>
  text.split(" ").map((word) => ({ id: word[0] ?? "", parents: [...(word.slice(2) || "")] }));
const say = (branch: readonly Stop<One>[]): string =>
  branch.map(({ of, branches }) => of.id + branches.map((one) => `(${say(one)})`).join("")).join("");
const said = (text: string): string[] => branchesOf(versions(text)).map(say);

test("what goes on is one branch, and a shorter way another one", () => {
  assert.deepEqual(said("a b<a c<b"), ["abc"]);
  // d leads on to e; b and c end where they are
  assert.deepEqual(said("a b<a c<a d<a e<d"), ["a(b)(c)de"]);
  assert.deepEqual(said("a b<a c<a"), ["a(b)c"]);
  assert.deepEqual(said("a b<a c<b d<a e<d f<c"), ["a(de)bcf"]);
});

test("a merged version stands below its first parent, and one whose parents are not there begins a branch", () => {
  assert.deepEqual(said("a b c<ba"), ["a", "bc"]);
  assert.deepEqual(said("b<x c<b d"), ["bc", "d"]);
});

test("versions that say they come from each other are there all the same", () => {
  assert.deepEqual(said("a<b b<a c<b"), ["abc"]);
});

test("a thousand generations are one branch", () => {
  const chain = Array.from({ length: 1000 }, (_, i) => ({ id: `${i}`, parents: i > 0 ? [`${i - 1}`] : [] }));
  const [branch, ...others] = branchesOf(chain);
  assert.deepEqual([branch?.length, branch?.at(-1)?.of.id, others.length], [1000, "999", 0]);
});
