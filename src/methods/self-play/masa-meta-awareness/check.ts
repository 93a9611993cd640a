import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { effort, longest } from "./effort.ts";
import { masaMetaAwareness } from "./method.ts";

/** Replies that end with the right answer, by how often they hesitate before. */
const hesitating = Array.from({ length: longest }, (_, n) => "hm ".repeat(n));

const arm = (what: string, recipe: Recipe<typeof masaMetaAwareness.options> | Recipe, options = {}): Arm =>
  trainingArm({
    what,
    recipe: {
      ...recipe,
      build: (settings, given) => recipe.build(settings, { ...given, ...options }),
    } as Recipe,
    environment: (seed) => effort({ seed }),
    engine: (seed) => tabularEngine({ prior: effort({ seed }).prior, features: effort({ seed }).features }),
    iterations: 1000,
    episodes: 4800,
    settings: { ...plainAscent, tasks: 16, groupSize: 8 },
    grid: [40, 80, 160].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => {
      const world = effort({ seed });
      return meanOver(world.tasks("train"), (task) =>
        expectedValue(
          policy,
          task,
          hesitating.map((before) => before + world.rightOf(task)),
          () => 1,
        ),
      );
    },
    more: ({ curve }) => {
      const last = curve.slice(-Math.ceil(curve.length / 4));
      const known = (name: string): number => {
        const found = last.flatMap((m) => m[name] ?? []);
        return found.reduce((a, b) => a + b, 0) / Math.max(1, found.length);
      };
      return {
        iterations: curve.length,
        "tasks skipped, last quarter": known("skipped"),
        "error of predictions, last quarter": known("prediction.error"),
        "dead groups, last quarter": known("deadGroups"),
      };
    },
  });

const plain = method({
  id: "attempts",
  family: "self-play",
  summary: "GRPO on attempts alone",
  defaults: { clipHigh: 0.28 },
  slots: ({ clipLow, clipHigh }) => ({ objective: clippedRatio({ clip: { low: clipLow, high: clipHigh } }) }),
});

/** Three predictions for eight attempts. */
const few = { predictions: 3, metaWarmUp: 10 };

export default defineCheck({
  id: "masa-meta-awareness",
  level: "table",
  simpler: ["baseline", "ungated"],
  claim:
    "Tasks whose outcome a policy learns to foretell can be skipped, so that as many episodes, predictions included, teach more than attempts at every task.",
  metric: "probability of a right answer, exact, mean over tasks, after 4800 episodes",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  notes:
    "Three of eight kinds of tasks cannot be learnt, so that 0.625 is the most there is, and all arms come near it: attempts at every task have 0.621, so that nothing could win by the 0.02 that is asked for. With the step size that suits a table best, a task takes few visits, and there is little left to save. Predictions do get within 0.14 of the truth, from 0.4, and three fifths of the tasks are skipped in the end, at no loss against attempts at every task. Tried on other seeds: 24 tasks that all can be learnt, six of eight kinds of them soon (GRPO ahead by 0.1: a table learns a task from its first success, and whoever predicts plays less); a third of the tasks impossible, predictions learnt for each task by itself (they stay wrong by 0.4, GRPO ahead); predictions common to a difficulty, as here, with budgets of 4800 to 7200 episodes. There they learn to within 0.15 to 0.3 of the truth, a third to a half of the tasks are skipped, and skipping wins back most of what predicting costs. The paper's tasks are many, its predictions short beside its attempts, and its saving is time; here a prediction costs as much as an attempt.",
  unequalCost: "equal episodes; a prediction is as long as an attempt, and hesitation changes in training",
  baseline: arm("attempts at every task", plain),
  method: arm("foregone tasks are skipped", masaMetaAwareness, few),
  others: {
    ungated: arm("predictions are trained and skip nothing", masaMetaAwareness, { ...few, metaWarmUp: 1e6 }),
  },
});
