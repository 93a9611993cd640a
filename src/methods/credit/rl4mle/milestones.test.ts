import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { milestones } from "./milestones.ts";

const patterns = [/imports done/, /data loaded: \d+ rows/g, /trained/];
const output = (...texts: string[]) => texts.map((text) => turnOf([1], [2], { text }));

async function worth(...turns: ReturnType<typeof output>): Promise<number> {
  const trajectories = [trajectoryOf("t", turns)];
  const [signal] = await milestones({ patterns })(ctxOf({}), { trajectories, units: [] }, {});
  return signal?.kind === "reward" ? signal.value : Number.NaN;
}

test("milestones: −10 and a tenth for each pattern that the output shows, once each", async () => {
  assert.equal(await worth(...output("imports done", "data loaded: 12 rows\ndata loaded: 12 rows")), -9.8);
  assert.equal(await worth(...output("nothing")), -10);
  // the same patterns again: a global one begins from the start each time
  assert.equal(await worth(...output("data loaded: 3 rows")), -9.9);
});

test("milestones: a submission is worth its score alone, also a score of 0", async () => {
  const submitted = turnOf([1], [2], { text: "trained", rewards: { outcome: 0 } });
  assert.equal(await worth(...output("imports done"), submitted), 0);
});

test("milestones: a failed episode gets no signal", async () => {
  const end = { kind: "failed", boundary: "sandbox", message: "lost" } as const;
  const trajectories = [trajectoryOf("t", output("trained"), { end })];
  assert.deepEqual(await milestones({ patterns })(ctxOf({}), { trajectories, units: [] }, {}), []);
});
