import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { annotated, qualitiesOf } from "./annotated.ts";

obeysTheLaws(() => annotated(), { garbage: 0.2 });

test("annotated: questions of one topic have the same qualities, in training and in tests", () => {
  const env = annotated({ topics: 3, questions: 9 });
  const byTopic = Map.groupBy([...env.tasks("train"), ...env.tasks("test")], (t) => t.metadata.topic);
  assert.equal(byTopic.size, 3);
  for (const tasks of byTopic.values()) {
    for (const task of tasks) assert.deepEqual(qualitiesOf(task), qualitiesOf(tasks[0]!));
  }
});

test("annotated: the annotator's replies come as often as softmax of quality says", () => {
  const tasks = annotated({ topics: 1, questions: 4000, replies: 4, scale: 1 }).tasks("train");
  const weights = qualitiesOf(tasks[0]!).map(Math.exp);
  const sum = weights.reduce((a, b) => a + b, 0);
  weights.forEach((w, i) => {
    const share = tasks.filter((t) => t.metadata.shown === i).length / tasks.length;
    // five deviations of at most 1/2 √(1/4000)
    assert.ok(Math.abs(share - w / sum) < 0.04, `${i}: ${share}, expected ${w / sum}`);
  });
});
