import type { Model } from "../../../core/model.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { habits, habitsPolicy, habitual, rightAnswer } from "./habits.ts";
import { oneShotRlvr } from "./method.ts";

/** Exact probability of the right answer, mean over the tasks of a split. */
const accuracyOf = (policy: Model, seed: number, split: string): Promise<number> =>
  meanOver(habitual({ seed }).tasks(split), async (task) =>
    (
      await replyProbabilities(
        policy,
        task,
        habits.map((habit) => `${habit} ${rightAnswer(task)}`),
      )
    ).reduce((a, b) => a + b, 0),
  );

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => habitual({ seed }),
    engine: (seed) => tabularEngine(habitsPolicy(seed)),
    iterations: 45,
    settings: { ...plainAscent, tasks: 6, groupSize: 8 },
    grid: [0.1, 0.3, 1, 3, 10].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => accuracyOf(policy, seed, "test"),
    more: async ({ policy, curve }, seed) => ({
      "accuracy on the pool": await accuracyOf(policy, seed, "train"),
      "success in training, last": curve.at(-1)?.success ?? 0,
    }),
  });

const chosenBy = (options: {
  readonly rank?: "most varying" | "least varying" | "random";
  readonly passes?: number;
}): Recipe => ({ ...oneShotRlvr, build: (settings) => oneShotRlvr.build(settings, options) });

export default defineCheck({
  id: "one-shot-rlvr",
  level: "table",
  simpler: ["baseline", "least varying", "whole pool"],
  claim:
    "After five passes over the pool, the one task whose success varied most teaches a shared habit that one task at random often does not.",
  metric: "probability of the right answer to questions that were never trained on, exact",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  baseline: arm("one task at random", chosenBy({ rank: "random" })),
  method: arm("the task whose success varied most", chosenBy({})),
  others: {
    "least varying": arm("the task whose success varied least", chosenBy({ rank: "least varying" })),
    "whole pool": arm("passes over all tasks, to the end", chosenBy({ passes: 1000 })),
  },
});
