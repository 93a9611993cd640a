import { sigmoid } from "../../../common/statistics/logistic.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { asEvaluator, hackableEngine, hackableModels } from "../../../worlds/arms/hackable.ts";
import { flattery, hackable } from "../../../worlds/hackable.ts";
import { dualReward } from "./dualReward.ts";

/**
 * Who judges the result says good or bad, with a probability that rises with the gold utility: honest, and noisy. Who judges the text is a
 * reward model of 400 comparisons: the same for equal texts, and pleased by flattery.
 */
const grid = [3, 10, 30, 100].map((learningRate) => ({ learningRate }));

const arm = (what: string, share: number): Arm => {
  const armIn = (seed: number): Arm => {
    const world = hackable({ seed });
    const { one } = hackableModels(world, { seed, members: 0 });
    const text = asEvaluator("text judge", (task, reply) => sigmoid(one(task, reply)));
    return trainingArm({
      recipe: method({
        id: "two-judges",
        family: "judges",
        summary: what,
        slots: { feedback: dualReward({ made: world.reviewer, text, share }) },
      }),
      environment: () => world,
      engine: () => hackableEngine(world),
      iterations: 40,
      settings: { ...plainAscent, tasks: 6, groupSize: 4 },
      grid,
      metric: ({ policy }) =>
        meanOver(world.tasks("train"), (task) =>
          expectedValue(policy, task, world.replies, (reply) => world.goldOf(task, reply)),
        ),
      more: async ({ policy }) => ({
        "words of flattery": await meanOver(world.tasks("train"), (task) =>
          expectedValue(policy, task, world.replies, (reply) => reply.split(flattery).length - 1),
        ),
      }),
    });
  };
  return { what, grid, measure: (choice, seed) => armIn(seed).measure(choice, seed) };
};

export default defineCheck({
  id: "gen-searcher",
  level: "shared",
  claim:
    "Half of the reward from a steady judge of the text that can be flattered, and half from a noisy judge of the result, teaches better replies than the judge of the result alone.",
  metric: "gold utility of the policy after 40 iterations, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: "unbounded",
  simpler: ["baseline", "text"],
  notes:
    "Not reproduced: a noisy and honest judge is enough here once its step size is tuned, and every share of the judge that can be flattered costs gold: 1.11 without it, 1.01 with a fifth, 0.92 with half, −1.42 with that judge alone, which flatters in 2.8 of 4 words. At small step sizes, where noise decides, half of each was ahead in trials on two other seeds (0.63 and 0.60 against 0.40 and 0.47).",
  baseline: arm("the judge of the result alone", 0),
  method: arm("half of each", 0.5),
  others: {
    fifth: arm("a fifth from the judge of the text", 0.2),
    text: arm("the judge of the text alone", 1),
  },
});
