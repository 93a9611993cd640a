import assert from "node:assert/strict";
import { test } from "node:test";
import { wilsonInterval } from "../../../src/common/statistics/statistics.ts";
import { progressOf } from "../../../src/serve/dashboard/headline.ts";
import type { RunDetail } from "../../../src/serve/dashboard/types.ts";
import type { Evaluation } from "../../../src/store/runStore.ts";
import { ran, world } from "./world.ts";

/** An evaluation in which each task went as its sign says. */
function evaluation(
  when: Evaluation["when"],
  iteration: number,
  split: string,
  outcomes: string,
  more: Partial<Evaluation> = {},
): Evaluation {
  const played = outcomes.replaceAll("-", "");
  return {
    when,
    iteration,
    split,
    mode: "sampled",
    success: wilsonInterval(played.replaceAll("0", "").length, played.length),
    reward: 0,
    turns: 1,
    tasks: outcomes.length,
    failed: outcomes.length - played.length,
    seconds: 1,
    trainedShare: 0,
    outcomes,
    ...more,
  };
}

test("a run opens with held-out tasks, before and after it, paired by task", async (t) => {
  const { store, get } = await world(t);
  await ran(store, "a", 3, () => 0.5);
  for (const one of [
    evaluation("before", 0, "validation", "0001"),
    evaluation("before", 0, "test", "0011-0"),
    evaluation("during", 2, "validation", "1101"),
    // of the five tasks that were played both times three are gained and one is lost
    evaluation("after", 3, "test", "110101"),
    evaluation("after", 3, "train", "1111", { trainedShare: 1 }),
  ])
    await store.saveEvaluation("a", one);
  const { progress } = await get<RunDetail>("/api/runs/a");
  assert.deepEqual(
    progress.map(({ split }) => split),
    ["test", "validation", "train"],
  );
  const [first, validation, trained] = progress;
  assert.deepEqual([first?.before?.success.mean, first?.latest?.success.mean], [0.4, 4 / 6]);
  assert.deepEqual([first?.ended, first?.tasks], [true, 6]);
  assert.deepEqual([first?.change?.gained, first?.change?.lost], [3, 1]);
  assert.ok(Math.abs((first?.change?.difference.mean ?? 0) - 2 / 5) < 1e-12);
  assert.deepEqual(
    validation?.curve.map(({ iteration }) => iteration),
    [0, 2],
  );
  assert.equal(validation?.ended, false);
  assert.deepEqual([trained?.before, trained?.trainedShare], [undefined, 1]);
});

test("tasks that cannot be paired are not", () => {
  const [one] = progressOf([
    evaluation("before", 0, "test", "0011"),
    evaluation("after", 3, "test", "11011"),
  ]);
  assert.equal(one?.change, undefined);
  assert.equal(one?.latest?.iteration, 3);
  const [alone] = progressOf([evaluation("after", 3, "test", "11")]);
  assert.deepEqual([alone?.before, alone?.ended], [undefined, true]);
  assert.deepEqual(progressOf([]), []);
});
