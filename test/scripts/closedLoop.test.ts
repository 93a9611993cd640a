import assert from "node:assert/strict";
import { test } from "node:test";
import { learners } from "../../scripts/closed-loop/learners.ts";
import { closedLoop, firstVersion, quickPlan, type Round } from "../../scripts/closed-loop/loop.ts";
import { localEngine } from "../../src/engine/local/index.ts";

test("the loop: visits, a candidate learnt from them, a decision, and visits again, through a real gateway", async () => {
  const engine = localEngine({
    threads: 1,
    size: { width: 16, layers: 1, heads: 1, kvHeads: 1, feedForward: 16 },
  });
  try {
    const told: Round[] = [];
    const setting = {
      engine,
      seed: 3,
      plan: { ...quickPlan, visits: 16, batch: 8, imitation: 2, training: 1 },
      stop: new AbortController().signal,
      report: (round: Round) => void told.push(round),
    };
    const rounds = await closedLoop(learners.debiased, await firstVersion(setting), setting);
    assert.deepEqual(told, rounds);
    assert.deepEqual(
      rounds.map(({ round, visits }) => [round, visits]),
      [
        [0, 16],
        [1, 16],
        [2, 16],
      ],
    );
    assert.ok(rounds.every(({ utility }) => utility >= 0 && utility <= 1));
    assert.ok(rounds[1]?.decision, "the candidate was decided about");
    assert.equal(rounds[2]?.decision, undefined);
  } finally {
    await engine.dispose();
  }
});
