import type { Task } from "../../src/core/words.ts";
import { sequences } from "../../src/env/sequences.ts";
import { grpo } from "../../src/method/baseline/grpo.ts";
import { rejectionSampling } from "../../src/method/baseline/rejection-sampling.ts";
import { nft } from "../../src/method/objective/nft.ts";
import { armOf, defineCheck, type PracticeArm, type Practised } from "../../src/train/index.ts";
import { expected, meanOver, probabilities, scattered } from "./_sequences.ts";

const environment = (seed: number) =>
  sequences({ questions: 3, length: 3, vocabulary: 6, pay: { kind: "right", share: 0.28 }, seed });

/** A question counts once it is mastered: diversity is easy to keep by learning nothing. */
const mastered = 0.95;

/** Exact expected number of different right answers in 16 samples, Σ over right answers of 1 − (1 − π)^16. */
async function rightAnswers({ policy }: Practised, seed: number): Promise<number> {
  const env = environment(seed);
  return meanOver(env.tasks("train"), async (task) => {
    const p = await probabilities(policy, task, env.all);
    const right = p.filter((_, i) => env.payOf(task, env.all[i]!) === 1);
    if (right.reduce((sum, x) => sum + x, 0) < mastered) return 0;
    return right.reduce((sum, x) => sum + 1 - (1 - x) ** 16, 0);
  });
}

async function success({ policy }: Practised, seed: number): Promise<number> {
  const env = environment(seed);
  const of = (task: Task): Promise<number> => expected(policy, task, env.all, (y) => env.payOf(task, y));
  return meanOver(env.tasks("train"), of);
}

const arm = (recipe: PracticeArm["recipe"]) =>
  armOf({
    recipe,
    environment,
    engine: (seed) => scattered(seed, 1),
    iterations: 120,
    settings: {
      tasks: 3,
      groupSize: 8,
      minibatches: 1,
      epochs: 4,
      schedule: "constant",
      warmUp: 0,
      gradientClip: 1e9,
      optimiser: "sgd",
    },
    grid: [1, 2, 4, 8, 16].map((learningRate) => ({ learningRate })),
    metric: rightAnswers,
    more: async (done, seed) => ({
      success: await success(done, seed),
      entropy: done.curve.at(-1)!.entropy!,
    }),
  });

export default defineCheck({
  id: "nft",
  claim: "Fitting wrong answers as well keeps more right ones alive than fine-tuning on right ones alone.",
  metric:
    "expected number of different right answers in 16 samples after 120 updates at mastered questions, exact",
  direction: "higher",
  smallestEffect: 0.2,
  baseline: arm(rejectionSampling),
  method: arm(nft),
  others: { GRPO: arm(grpo) },
});
