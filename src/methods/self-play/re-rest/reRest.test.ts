import assert from "node:assert/strict";
import { test } from "node:test";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { answers, rightOf } from "../../../worlds/answers.ts";
import { reRest } from "./method.ts";

test("verified corrections are imitated under the bare question; wrong ones and failures are not", async () => {
  const environment = answers({ questions: 2, vocabulary: 6, right: 1, seed: 1 });
  const imitated: { readonly t: Trajectory; readonly weight: number }[] = [];
  await trainInMemory({
    environment,
    engine: tabularEngine({
      context: "message",
      prior: (_context, word) => (/^a\d$/.test(word) ? 0 : -1e9),
      reading: {
        isRead: (message) => message.startsWith("your attempt"),
        // follows what the critique names, at odds of e²
        shift: ([said = ""], _reply, word) => (said.endsWith(`: ${word}`) ? 2 : 0),
      },
    }),
    method: reRest.build({ tasks: 2, groupSize: 16, optimiser: "sgd", learningRate: 0 }),
    seed: 1,
    iterations: 1,
    onIteration: ({ experience, advantages }) => {
      for (const t of experience.trajectories) imitated.push({ t, weight: advantages.get(t.id)?.[0] ?? 0 });
    },
  });
  const right = new Map(environment.tasks("train").map((task) => [task.id, rightOf(task)]));
  const corrected = imitated.filter(({ t }) => t.lineage?.why === "rewrite");
  const failures = imitated.filter(({ t }) => !t.lineage && !succeeded(t));
  assert.equal(corrected.length, failures.length); // one correction for each failure
  for (const { t, weight } of imitated) {
    assert.equal(weight, Number(right.get(t.task)!.includes(t.turns[0]!.action.content)));
    assert.equal(t.turns[0]!.prompt.length, 1); // the question alone
  }
  assert.ok(corrected.some(({ weight }) => weight === 1) && corrected.some(({ weight }) => weight === 0));
});
