import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { foldedDiff, lineDiff, sayDiff } from "../../../src/common/text/lineDiff.ts";

test("what goes stands before what comes, and the rest stays", () => {
  assert.deepEqual(
    lineDiff("a\nb\nc", "a\nx\nc").map(({ kind, text }) => `${kind} ${text}`),
    ["same a", "removed b", "added x", "same c"],
  );
  assert.deepEqual(lineDiff("a", "a"), [{ kind: "same", text: "a" }]);
});

test("one side can be read off the changes, and so can the other; as few as possible change", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 8 })
    .map((l) => l.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const changes = lineDiff(before, after);
      const side = (left: "added" | "removed"): string =>
        changes.flatMap(({ kind, text }) => (kind === left ? [] : [text])).join("\n");
      assert.equal(side("added"), before);
      assert.equal(side("removed"), after);
      const kept = changes.filter(({ kind }) => kind === "same").length;
      assert.equal(kept, common(before.split("\n"), after.split("\n")));
    }),
    { seed: 1, numRuns: 300 },
  );
});

/** Length of the longest common subsequence, by its definition. */
function common(a: readonly string[], b: readonly string[]): number {
  const [x, ...as] = a;
  const [y, ...bs] = b;
  if (x === undefined || y === undefined) return 0;
  return x === y ? 1 + common(as, bs) : Math.max(common(as, b), common(a, bs));
}

test("only what is near a change is said", () => {
  const lines = Array.from({ length: 9 }, (_, i) => `${i}`);
  const after = lines.with(4, "four");
  assert.deepEqual(sayDiff(lineDiff(lines.join("\n"), after.join("\n")), 1), [
    "  3",
    "- 4",
    "+ four",
    "  5",
    "  …",
  ]);
});

test("what is left out is counted, at the ends as well", () => {
  const folded = foldedDiff(lineDiff("1\n2\n3\n4\n5\n6", "1\n2\n3\nx\n5\n6"), 1);
  assert.deepEqual(
    folded.map((one) => (one.kind === "left out" ? one.lines : one.kind)),
    [2, "same", "removed", "added", "same", 1],
  );
  assert.deepEqual(foldedDiff(lineDiff("a\nb", "a\nb")), [{ kind: "left out", lines: 2 }]);
});

test("texts too long to be compared line by line go and come whole, but for their ends", () => {
  const lines = (word: string): string => Array.from({ length: 2100 }, (_, i) => `${word} ${i}`).join("\n");
  // 2100² pairs are above four million
  const changes = lineDiff(`first\n${lines("a")}\nlast`, `first\n${lines("b")}\nlast`);
  const runs = changes.map(({ kind }) => kind).filter((kind, i, all) => kind !== all[i - 1]);
  assert.deepEqual([runs, changes.length], [["same", "removed", "added", "same"], 4202]);
});
