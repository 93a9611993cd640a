import assert from "node:assert/strict";
import { test } from "node:test";
import { featuresOf, heardOn, learners } from "../../scripts/closed-loop/learners.ts";
import { closedLoop, firstVersion, quickPlan, type Round } from "../../scripts/closed-loop/loop.ts";
import type { Logged } from "../../src/core/served.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import { trajectoryOf, turnOf } from "../core/make.ts";

const exposure = (channel: string) => ({
  id: `t/0/${channel}`,
  about: { trajectory: "t", turn: 0 },
  channel,
  at: 0,
});

/** A reply "b" to "a" on which two channels were open, and what was said on them. */
const served = (signals: Logged["signals"]): Logged => ({
  trajectory: trajectoryOf("t", [
    turnOf([1], [2], {
      prompt: [{ role: "user", content: "a" }],
      action: { role: "assistant", content: "b c" },
    }),
  ]),
  session: "s",
  responses: ["r"],
  propensities: [1],
  signals,
  exposures: [exposure("reaction"), exposure("outcome")],
});
const about = [{ trajectory: "t", turn: 0 }];

test("heardOn: one row an exposure; silence is null, the last answer counts, other channels do not", () => {
  const first = {
    kind: "reward",
    channel: "outcome",
    about,
    source: "user",
    exposure: "t/0/outcome",
    value: 0,
  } as const;
  const x = { "0:b": 1, "a → 0:b": 1, "1:c": 1, "a → 1:c": 1 };
  assert.deepEqual(featuresOf("a", "b c"), x);
  assert.deepEqual(heardOn("outcome", [served([])]), [{ x, y: null, weight: 1 }]);
  assert.deepEqual(heardOn("outcome", [served([first])]), [{ x, y: 0, weight: 1 }]);
  assert.deepEqual(heardOn("outcome", [served([first, { ...first, value: 1 }])]), [{ x, y: 1, weight: 1 }]);
  assert.deepEqual(heardOn("reaction", [served([first])]), [{ x, y: null, weight: 1 }]);
  assert.deepEqual(heardOn("comment", [served([first])]), []);
});

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
      plan: { ...quickPlan, visits: 16, batch: 8, imitation: 2, practice: 1 },
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
