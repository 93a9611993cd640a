import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lineDiff, sayDiff } from "../../src/core/lineDiff.ts";

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
