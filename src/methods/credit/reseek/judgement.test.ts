import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Ending, Turn } from "../../../core/types.ts";
import { type JudgementOptions, judgement } from "./judgement.ts";

const answering = (content: string, relevance?: number): Turn =>
  turnOf([1], [2], {
    action: { role: "assistant", content },
    rewards: relevance === undefined ? {} : { relevance },
  });
const turns = [answering("Yes", 1), answering("yes", 0.4), answering("no", 0.5), answering("No", 0)];
const done = (success: boolean): Ending => ({ kind: "done", reason: "answered", success });

async function paid(end: Ending, options: JudgementOptions = {}, of: readonly Turn[] = turns) {
  const trajectories = [trajectoryOf("t", of, { end })];
  const signals = await judgement(options)(ctxOf({}), { trajectories, units: [] }, {});
  for (const s of signals) assert.deepEqual([s.channel, s.about[0]!.trajectory], ["judge", "t"]);
  return signals.map((s) => [s.about[0]!.turn, s.kind === "reward" ? s.value : undefined]);
}

test("judgement pays by the table: a yes by how the episode ends, a no by what it judged", async () => {
  assert.deepEqual(await paid(done(true)), [
    [0, 0.1],
    [1, 0.1],
    [2, -0.05],
    [3, 0.02],
  ]);
  assert.deepEqual(await paid(done(false)), [
    [0, -0.025],
    [1, -0.05],
    [2, -0.05],
    [3, 0.02],
  ]);
});

test("judgement by usefulness alone does not look at the end", async () => {
  const options = { yes: "usefulness", reward: 1, penalty: 0.5 } as const;
  for (const success of [true, false]) {
    assert.deepEqual(await paid(done(success), options), [
      [0, 1],
      [1, -0.5],
      [2, -0.5],
      [3, 0.2],
    ]);
  }
});

test("judgement: no end of its own, no judgement or no relevance gives no signal", async () => {
  assert.deepEqual(await paid({ kind: "truncated", limit: "turns", at: 4 }), []);
  assert.deepEqual(await paid(done(true), {}, [answering("maybe", 1), answering("yes")]), []);
  const own = { answer: () => false, relevance: () => 1 };
  assert.deepEqual(await paid(done(true), own, [answering("maybe")]), [[0, -0.05]]);
});
