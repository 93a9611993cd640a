import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { scorer } from "../../../core/evaluator.ts";
import type { Json } from "../../../core/json.ts";
import { signalValue } from "../../../core/signal.ts";
import { type CaptionRewardsOptions, captionRewards } from "./captionRewards.ts";

/** An episode that saw these messages after its actions. */
const seeing = (id: string, ...captions: string[]) =>
  trajectoryOf(
    id,
    ["start", ...captions].map((content) => turnOf([1], [2], { prompt: [{ role: "user", content }] })),
  );

/** Good captions are progress; it fails on broken ones. */
function run(options: Partial<CaptionRewardsOptions> = {}) {
  const asked: string[][] = [];
  const memory = new Map<string, Json>();
  const counted: Record<string, number> = {};
  const annotator = scorer<string>("annotator", async (caption) => {
    asked.at(-1)!.push(caption);
    return caption.startsWith("broken") ? undefined : Number(caption.startsWith("good"));
  });
  const piece = captionRewards({ annotator, coefficient: 0.5, decay: 3, labels: 10, ...options });
  const ctx = ctxWith(
    {},
    {
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
      count: (name, n) => void (counted[name] = (counted[name] ?? 0) + n),
    },
  );
  const iteration = async (...trajectories: ReturnType<typeof seeing>[]) => {
    asked.push([]);
    const signals = await piece(ctx, { trajectories, units: [] }, {});
    return signals.map((s) => [s.about[0]!.trajectory, s.about[0]!.turn, signalValue(s)]);
  };
  return { iteration, asked, counted };
}

test("labels come one iteration late, and a caption pays less each time in an episode", async () => {
  const { iteration, asked } = run();
  const [a, b] = [seeing("a", "good", "bad", "good", "good"), seeing("b", "good")];
  assert.deepEqual(await iteration(a, b), []);
  assert.deepEqual(asked[0], ["good", "bad"]);
  // c/n³; the reward belongs to the action before the caption, and the count to one episode
  assert.deepEqual(await iteration(a, b), [
    ["a", 0, 0.5],
    ["a", 2, 0.5 / 8],
    ["a", 3, 0.5 / 27],
    ["b", 0, 0.5],
  ]);
  assert.deepEqual(asked[1], []);
});

test("the newest captions are labelled first, and one that the annotator fails on waits to be seen again", async () => {
  const { iteration, asked, counted } = run({ labels: 2 });
  await iteration(seeing("a", "good 1", "good 2", "good 3"));
  await iteration(seeing("a", "broken", "good 1"));
  assert.deepEqual(asked, [
    ["good 2", "good 3"],
    ["broken", "good 1"],
  ]);
  assert.deepEqual(counted, { "judge.calls": 4, "judge.failures": 1 });
  await iteration(seeing("a", "broken"));
  assert.deepEqual(asked[2], ["broken"]);
});

test("a classifier of the words pays for captions without a label; failed episodes have none", async () => {
  const { iteration } = run({ model: "classification", decay: 0 });
  const failed = {
    ...seeing("f", "good x"),
    end: { kind: "failed", boundary: "model", message: "" },
  } as const;
  await iteration(seeing("a", "good x", "bad x", "good y", "bad y", "bad"), failed);
  assert.deepEqual(await iteration(seeing("a", "good never", "bad never", "good x"), failed), [
    ["a", 0, 0.5],
    ["a", 2, 0.5],
  ]);
});
