import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { toolChains } from "../../src/env/toolChains.ts";

const env = toolChains();
/** Wants "fig plum" of "plum fig plum": split, unique, sort. */
const task: Task = {
  id: "t",
  prompt: [{ role: "user", content: "wanted" }],
  reference: "split unique sort",
  metadata: { inputs: ["plum fig plum", "fig fig kiwi"] },
  seed: 0,
};

async function played(...actions: readonly string[]) {
  const episode = await env.start(task, randomStream(1));
  let step = await episode.act({ content: actions[0]!, stop: "eos" });
  for (const content of actions.slice(1)) step = await episode.act({ content, stop: "eos" });
  return { step, episode };
}

test("toolChains: pays the mean share of places that agree over all inputs", async () => {
  assert.equal((await played("split", "sort", "unique", "stop")).step.rewards?.outcome, 1);
  // wanted "fig plum" and "fig kiwi". "plum fig": no place agrees; "fig kiwi": both. (0 + 1) / 2
  const { step } = await played("split", "unique", "stop");
  assert.equal(step.rewards?.outcome, 1 / 2);
  assert.equal(step.text, "gave plum fig , not fig plum");
  // "plum fig plum" agrees nowhere in three places, "fig fig kiwi" at "fig": (0 + 1/3) / 2
  assert.equal((await played("split", "stop")).step.rewards?.outcome, 1 / 6);
  // text where words are wanted
  assert.equal((await played("upper", "stop")).step.rewards?.outcome, 0);
});

test("toolChains: an ill-typed chain and a word that is no tool cost 1 and end it", async () => {
  const { step, episode } = await played("split", "upper");
  assert.deepEqual(step, {
    rewards: { outcome: -1 },
    end: { kind: "done", reason: "ill-typed", success: false },
    text: "upper takes text , not words",
  });
  assert.equal((await episode.act({ content: "stop", stop: "eos" })).rewards, undefined, "over");
  assert.equal((await played("hammer")).step.rewards?.outcome, -1);
});

test("toolChains: whoever keeps to what is legal makes no ill-typed chain, and has to stop in time", async () => {
  for (let seed = 0; seed < 40; seed++) {
    const random = randomStream(seed);
    const episode = await env.start(task, random);
    for (let turn = 0; ; turn++) {
      const { legal } = (await episode.observe()).observation;
      if (turn === 4) assert.deepEqual(legal, ["stop"]);
      const { end } = await episode.act({ content: legal![random.below(legal!.length)]!, stop: "eos" });
      if (!end) continue;
      assert.equal(end.kind === "done" && end.reason, "run");
      break;
    }
  }
});

test("toolChains: every task asks for another result", () => {
  const references = env.splits.flatMap((split) => env.tasks(split).map((t) => t.reference));
  assert.equal(new Set(references).size, references.length);
  assert.ok(references.length >= 30);
});
