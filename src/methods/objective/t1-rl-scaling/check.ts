import type { Model } from "../../../core/model.ts";
import type { Task } from "../../../core/types.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { defineCheck } from "../../../train/check.ts";
import { trainingArm } from "../../../train/trainingArm.ts";
import { answers, rightOf } from "../../../worlds/answers.ts";
import { t1RlScaling } from "./method.ts";

const [questions, vocabulary] = [8, 20];
const environment = (seed: number) => answers({ seed, questions, vocabulary, right: 1 });

/** Attempts at each question over the whole run, whatever the size of a group. */
const attempts = 1280;

/** Initially the right word has probability 0.03 at one half of the questions, 0.005 at the other. */
function engine(seed: number) {
  const byWord = new Map(
    environment(seed)
      .tasks("train")
      .map((t) => [t.prompt[0]!.content, t]),
  );
  const prior: Prior = (context, word) => {
    if (!/^a\d+$/.test(word)) return -1e9;
    const task = byWord.get(context[1] ?? "");
    if (!task || !rightOf(task).includes(word)) return 0;
    const mass = Number(task.metadata.index) % 2 === 0 ? 0.03 : 0.005;
    return Math.log((mass / (1 - mass)) * (vocabulary - 1));
  };
  return tabularEngine({ context: "message", prior });
}

/** Exact probability of the right answer, mean over some questions. */
const success = (policy: Model, tasks: readonly Task[]): Promise<number> =>
  meanOver(tasks, (task) => expectedValue(policy, task, rightOf(task), () => 1));

const arm = (recipe: Recipe, groupSize: number) =>
  trainingArm({
    recipe,
    environment,
    engine,
    iterations: attempts / groupSize,
    settings: {
      tasks: questions,
      groupSize,
      epochs: 2,
      optimiser: "sgd",
      gradientClip: 1e9,
      schedule: "constant",
      warmUp: 0,
    },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => success(policy, environment(seed).tasks("train")),
    more: async ({ policy, curve }, seed) => {
      const tasks = environment(seed).tasks("train");
      return {
        "success on the rare half": await success(
          policy,
          tasks.filter((t) => Number(t.metadata.index) % 2 === 1),
        ),
        entropy: curve.at(-1)!.entropy!,
      };
    },
  });

/** The same with the initial policy as anchor, and no bonus. */
const fixed = method({
  ...t1RlScaling,
  summary: "the anchor stays where the policy began, no bonus",
  frozen: { anchor: {} },
  slots: (s) => ({ ...t1RlScaling.build(s).slots, objective: clippedRatio() }),
});

export default defineCheck({
  id: "t1-rl-scaling",
  level: "shared",
  simpler: ["manyFixed", "fewMoving"],
  claim:
    "With as many samples in all, many attempts at once and an anchor that follows the policy end higher than few attempts and a fixed anchor.",
  metric: "success at the end, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(fixed, 8),
  method: arm(t1RlScaling, 64),
  notes:
    "At an equal price of divergence, 0.2 per nat, which a fixed anchor makes a ceiling on rare answers: without any price nothing would be left to show. At 0.1 per nat all arms end between 0.99 and 1. Nearly all of the effect is the anchor's: few attempts with a moving anchor do as well as many.",
  others: {
    manyFixed: arm(fixed, 64),
    fewMoving: arm(t1RlScaling, 8),
  },
});
