import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { Task } from "../../../core/types.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { scattered } from "../../../worlds/arms/sequences.ts";
import { isHard, sequences } from "../../../worlds/sequences.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { expertGate } from "./expertGate.ts";
import { ahpo } from "./method.ts";

const environment = (seed: number) =>
  sequences({ questions: 6, length: 3, vocabulary: 8, pay: { kind: "uneven", share: 0.5 }, seed });

/** Exact expected reward, mean over the questions that `of` takes. */
async function reward(
  { policy }: TrainedInMemory,
  seed: number,
  of: (task: Task) => boolean,
): Promise<number> {
  const env = environment(seed);
  const one = (task: Task): Promise<number> =>
    expectedValue(policy, task, env.all, (y) => env.payOf(task, y));
  return meanOver(env.tasks("train").filter(of), one);
}

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment,
    engine: (seed) => scattered(seed, 0.3),
    iterations: 50,
    settings: {
      ...plainAscent,
      tasks: 6,
      groupSize: 8,
      epochs: 2,
    },
    grid: [10, 30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: (done, seed) => reward(done, seed, () => true),
    more: async (done, seed) => ({
      hard: await reward(done, seed, isHard),
      easy: await reward(done, seed, (task) => !isHard(task)),
    }),
  });

/** AHPO that always imitates the expert: no task ever reaches this many successes. */
const fixed = method({
  id: "fixed",
  family: "objective",
  summary: "GRPO, and imitation of the expert at every task",
  slots: (settings) => ({
    ...ahpo.build(settings).slots,
    advantage: [groupNormalised(), expertGate({ successes: Number.POSITIVE_INFINITY })],
  }),
});

export default defineCheck({
  id: "ahpo",
  level: "shared",
  simpler: ["GRPO"],
  claim:
    "Imitation that ends where the policy succeeds learns hard tasks without being held to a mediocre expert.",
  metric: "expected reward after 50 updates over hard and easy questions, exact",
  direction: "higher",
  smallestEffect: 0.02,
  tuningSeeds: 3,
  baseline: arm(fixed),
  method: arm(ahpo),
  others: { GRPO: arm(grpo) },
});
