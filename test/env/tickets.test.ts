import assert from "node:assert/strict";
import { test } from "node:test";
import { planOf, tickets } from "../../src/env/tickets.ts";

test("tickets of one fault share its three symptoms and its plan; of one writer at least eight of twelve words", () => {
  const all = tickets({ faults: 20, tickets: 300 }).tasks("train");
  const words = all.map(({ prompt }) => new Set(prompt[0]!.content.split(" ")));
  for (const [i, task] of all.entries()) {
    assert.equal(words[i]!.size, 13);
    for (let j = 0; j < i; j++) {
      const shared = [...words[i]!].filter((word) => words[j]!.has(word)).length;
      const [a, b] = [task.metadata, all[j]!.metadata];
      if (a.fault === b.fault) assert.equal(planOf(task), planOf(all[j]!));
      // two choices of ten among twelve have eight or more in common; symptoms are shared by chance: at most two
      if (a.fault === b.fault && a.writer !== b.writer) assert.equal(shared, 3);
      if (a.fault !== b.fault && a.writer === b.writer) assert.ok(shared >= 8 && shared <= 12);
      if (a.fault !== b.fault && a.writer !== b.writer) assert.ok(shared <= 2);
    }
  }
});
