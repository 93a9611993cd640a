import type { Model } from "../../../core/model.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { inStages, keyedFacts, keyedPolicy, stageOf, stages, valueIn } from "./keyedFacts.ts";
import { viewbatchRest } from "./method.ts";

/** Iterations of a stage: twelve passes over its facts. */
const iterations = 15;

/** Exact probability of the right values, mean over the facts of the stages before the last, or of the last. */
const knownOf = (policy: Model, seed: number, last: boolean): Promise<number> =>
  meanOver(
    keyedFacts(seed)
      .tasks("train")
      .filter((task) => (stageOf(task) === stages - 1) === last),
    async (task) => (await replyProbabilities(policy, task, [valueIn(task)]))[0]!,
  );

const recipe = (views: number, consistency: number): Recipe => ({
  ...viewbatchRest,
  build: (settings) => {
    const built = viewbatchRest.build(settings, { views, consistency, from: 6, drop: 0.25 });
    return {
      ...built,
      slots: { ...built.slots, data: inStages(built.slots.data, { iterations, kept: 4 }) },
    };
  },
});

const arm = (what: string, views: number, consistency: number) =>
  trainingArm({
    what,
    recipe: recipe(views, consistency),
    environment: keyedFacts,
    engine: () => tabularEngine(keyedPolicy),
    iterations: stages * iterations,
    settings: { ...plainAscent, tasks: 20 },
    grid: [2, 5, 12, 30, 75].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => knownOf(policy, seed, false),
    more: async ({ policy }, seed) => ({ "facts of the last stage": await knownOf(policy, seed, true) }),
  });

export default defineCheck({
  id: "viewbatch-rest",
  level: "table",
  simpler: ["baseline", "no consistency"],
  claim:
    "At equal rows, several views of few facts per batch, pulled together, leave more of earlier stages known than one view of many.",
  metric: "probability of the right value, exact, mean over the facts of all stages but the last, at the end",
  direction: "higher",
  smallestEffect: 0.01,
  range: [0, 1],
  notes:
    "A linear policy on the words of the key; a view leaves out a quarter of them, the first of four an eighth. The consistency term begins after six iterations. Four views alone are level with one view; the consistency term costs, the more the larger it is (tried on seeds of their own: a tenth of its weight, 0.53 in place of 0.50 and 0.54 without it, at a step of 5): a linear policy's views share their words already, and the first view teaches what the others have just been taught less surely.",
  baseline: arm("one view of each fact", 1, 0),
  method: arm("four views and consistency", 4, 1),
  others: { "no consistency": arm("four views alone", 4, 0) },
});
