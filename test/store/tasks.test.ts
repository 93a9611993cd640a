import assert from "node:assert/strict";
import { join } from "node:path";
import type { Ending, Trajectory } from "../../src/core/types.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { keptIterations } from "../../src/store/storedIterations.ts";
import { folder, onEach } from "./each.ts";

let ids = 0;
const played = (task: string, reward: number, end: Ending, role = "agent"): Trajectory => ({
  id: `t${ids++}`,
  task,
  episode: "e",
  role,
  turns: [
    {
      role,
      model: "policy",
      version: "v1",
      prompt: [
        { role: "system", content: "Be brief." },
        { role: "user", content: `About ${task}? ${"x".repeat(300)}` },
      ],
      action: { role: "assistant", content: "yes" },
      spans: {},
      stop: "eos",
      rewards: { outcome: reward },
      ms: 1,
    },
  ],
  end,
  origin: "sampled",
});
const done = (success?: boolean): Ending => ({
  kind: "done",
  reason: "answered",
  ...(success === undefined ? {} : { success }),
});
const saved = (trajectory: Trajectory, phase = "train") => ({ trajectory, phase });

onEach(
  "what was trained on outlives the episodes, is replaced with its iteration, and rewound",
  async (where) => {
    const store = await openRunStore(where);
    const run = {
      id: "r",
      name: "r",
      env: "e",
      method: "grpo",
      engine: "tabular",
      seed: 1,
      config: {},
      folder: join(folder, "r"),
    };
    await store.startRun(run);
    const group = [saved(played("a", 1, done(true))), saved(played("a", 0, done(false)))];
    const dead = [saved(played("b", 0.5, done())), saved(played("b", 0.5, done()))];
    const judged = saved(played("c", 1, done(true)), "before");
    const later = keptIterations + 10;
    await store.saveIteration("r", 0, { metrics: {}, trajectories: group });
    await store.saveIteration("r", 0, { metrics: {}, trajectories: [...group, ...dead, judged] });
    for (let i = 1; i <= later; i++) {
      await store.saveIteration("r", i, { metrics: {}, trajectories: [saved(played("a", 1, done(true)))] });
    }
    assert.deepEqual(await store.taskBlocks("r", 100), [
      {
        block: 0,
        task: "a",
        role: "agent",
        episodes: later + 2,
        rated: later + 2,
        successes: later + 1,
        reward: (later + 1) / (later + 2),
        groups: later + 1,
        dead: 0,
      },
      {
        block: 0,
        task: "b",
        role: "agent",
        episodes: 2,
        rated: 0,
        successes: 0,
        reward: 0.5,
        groups: 1,
        dead: 1,
      },
    ]);
    const byTen = (await store.taskBlocks("r", 10)).filter(({ task }) => task === "a");
    assert.deepEqual(
      byTen.map(({ block, episodes }) => [block, episodes]),
      [[0, 11], ...Array.from({ length: 5 }, (_, i) => [i + 1, 10]), [6, 1]],
    );
    const asked = await store.taskWords("r");
    assert.deepEqual([...asked.keys()].sort(), ["a", "b"]);
    assert.equal(asked.get("a")?.length, 120);
    assert.ok(asked.get("a")?.startsWith("About a? xxx"));
    await store.rewind("r", 5);
    assert.deepEqual(
      (await store.taskBlocks("r", 1)).filter(({ task }) => task === "a").map(({ block }) => block),
      [0, 1, 2, 3, 4],
    );
    await store.close();
  },
);
