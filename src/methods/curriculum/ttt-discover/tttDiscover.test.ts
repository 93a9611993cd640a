import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { allSequences } from "../../../env/oneReply.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { goOnFrom, solutionOf } from "./fromArchive.ts";
import { tttDiscover } from "./method.ts";
import { landscapeOf, largestValue, rugged, solutionValue } from "./rugged.ts";

obeysTheLaws(() => rugged({ bits: 6, others: 2 }), { garbage: 0.1 });

test("solutionValue: one contribution per window, its first bit counting most", () => {
  const landscape = [
    [0.1, 0.2, 0.3, 0.4],
    [0.5, 0.6, 0.7, 0.8],
  ];
  // windows 10 and 01: the third of the first place, the second of the second
  assert.ok(Math.abs(solutionValue(landscape, [1, 0, 1]) - (0.3 + 0.6)) < 1e-12);
  // 11 and 11 are the largest, and fit together
  assert.ok(Math.abs(largestValue(landscape) - 1.2) < 1e-12);
});

test("largestValue: that of the best of all solutions", () => {
  const landscape = landscapeOf(9, 3, 4);
  const values = allSequences(["0", "1"], 9).map((text) =>
    solutionValue(landscape, text.split(" ").map(Number)),
  );
  assert.ok(Math.abs(Math.max(...values) - largestValue(landscape)) < 1e-12);
});

test("solutionOf: an attempt's actions, a line each", () => {
  assert.equal(solutionOf(trajectoryOf("t", [turnOf([1], [2, 3]), turnOf([1], [4])])), "2 3\n4");
});

/** The prompts' last messages, groups and best rewards of each iteration. */
async function search(archive: boolean) {
  const found: { readonly shown: string[]; readonly groups: number; readonly rewards: number[] }[] = [];
  const { curve } = await trainInMemory({
    environment: rugged({ bits: 6, others: 2 }),
    engine: tabularEngine({ prior: (_context, word) => (word === "0" || word === "1" ? 0 : -1e9) }),
    method: tttDiscover.build({ tasks: 3, groupSize: 4, optimiser: "sgd", learningRate: 0.1 }, { archive }),
    seed: 2,
    iterations: 6,
    onIteration: ({ experience: { trajectories, units } }) =>
      void found.push({
        shown: trajectories.map(({ turns }) => turns[0]!.prompt.at(-1)!.content),
        groups: new Set(units.map(({ group }) => group)).size,
        rewards: trajectories.map(({ turns }) => turns[0]!.rewards.outcome!),
      }),
  });
  return { found, curve };
}

test("attempts begin at the task, then at solutions that were written before; the best reward is kept", async () => {
  const { found, curve } = await search(true);
  assert.equal(found[0]!.groups, 1, "the archive has its root alone");
  assert.ok(found[0]!.shown.every((text) => text === "q0"));
  assert.ok(found.slice(2).some(({ groups }) => groups > 1));
  const written = new Set<string>();
  let best = 0;
  found.forEach(({ shown, rewards }, i) => {
    for (const text of shown) if (text.startsWith(goOnFrom)) written.add(text);
    best = Math.max(best, ...rewards);
    assert.equal(curve[i]!.best, best);
  });
  assert.ok(written.size >= 3, `${written.size}`);
  for (const text of written) assert.match(text, /^go on from :\n[01]( [01]){5}$/);
});

test("without the archive every iteration has as many groups, all from the task", async () => {
  const { found } = await search(false);
  for (const { shown, groups } of found) {
    assert.equal(groups, 3);
    assert.ok(shown.every((text) => text === "q0"));
  }
});
