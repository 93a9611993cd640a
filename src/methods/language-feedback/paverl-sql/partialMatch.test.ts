import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Trajectory } from "../../../core/types.ts";
import { type PartialMatchOptions, partialMatch } from "./partialMatch.ts";

/** An episode whose turns were paid so. */
const paid = (id: string, ...rewards: readonly Readonly<Record<string, number>>[]): Trajectory =>
  trajectoryOf(
    id,
    rewards.map((of) => turnOf([1], [2], { rewards: of })),
  );

async function values(trajectories: readonly Trajectory[], options: PartialMatchOptions = {}) {
  const signals = await partialMatch(options)(ctxOf({}), { trajectories, units: [] }, {});
  return signals.map((s) => (s.kind === "reward" ? s.value : undefined));
}

test("partialMatch is worked by hand: 0, 0.5, or ten times the share, whichever is more", async () => {
  const some = [
    paid("error", { runs: 0, match: 0 }),
    paid("nothing", { runs: 1, match: 0 }),
    // 10 · 0.04 = 0.4 would be less than nothing is worth
    paid("a little", { runs: 1, match: 0.04 }),
    paid("half", { runs: 1, match: 0.5, outcome: 0 }),
    paid("all", { runs: 1, match: 1, outcome: 1 }),
  ];
  assert.deepEqual(await values(some), [0, 0.5, 0.5, 5, 10]);
});

test("partialMatch: the last query counts, and the reward never falls as the match rises", async () => {
  assert.deepEqual(await values([paid("two", { runs: 1, match: 1 }, { runs: 1, match: 0.3 })]), [3]);
  assert.deepEqual(await values([paid("then nothing", { runs: 1, match: 0.3 }, {})]), [3]);
  const rising = await values(
    Array.from({ length: 101 }, (_, i) => paid(`${i}`, { runs: 1, match: i / 100 })),
  );
  for (const [i, value] of rising.entries()) assert.ok(i === 0 || value! >= rising[i - 1]!);
});

test("partialMatch: nothing measured is no signal, and names and sizes can be set", async () => {
  const failed: Trajectory = {
    ...paid("failed", { runs: 1, match: 1 }),
    end: { kind: "failed", boundary: "environment", message: "" },
  };
  assert.deepEqual(await values([failed, paid("none", { outcome: 1 }), trajectoryOf("silent", [])]), []);
  const set = { runs: 0.1, full: 1, names: { runs: "valid", match: "share" } };
  assert.deepEqual(
    await values([paid("own", { valid: 1, share: 0.05 }, { valid: 1, share: 0.7 })], set),
    [0.7],
  );
});
