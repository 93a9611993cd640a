import type { Model } from "../../../core/model.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { tryAgain } from "../../../worlds/tryAgain.ts";
import { rejectionSampling } from "../../baseline/rejection-sampling/method.ts";
import { smartMetastrategy } from "./method.ts";
import { matchOf, strategies } from "./strategies.ts";

/** Odds of e⁵ for the strategy of habit at first; once it has failed, any that was not tried. */
const prior: Prior = (context, word) => {
  if (!/^s\d$/.test(word)) return -1e9;
  const tried = context.filter((said) => /^s\d$/.test(said));
  if (tried.includes(word)) return -1e9;
  return tried.length === 0 && word === "s0" ? 5 : 0;
};
const world = (seed: number) => strategies({ seed });

/** Probability of a right first answer, exact: mean over kinds. */
const firstTry = (policy: Model, seed: number): Promise<number> =>
  meanOver(world(seed).tasks("train").slice(0, 3), (task) =>
    expectedValue(policy, task, ["s0", "s1", "s2"], (said) => (said === matchOf(task) ? 0.9 : 0.2)),
  );

const arm = (what: string, recipe: Recipe, turns: number, iterations: number) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => tryAgain(world(seed), { turns, words: "wrong" }),
    engine: () => tabularEngine({ prior }),
    iterations,
    settings: { ...plainAscent, tasks: 20, groupSize: 1 },
    grid: [1, 3, 10, 30, 100].map((learningRate) => ({ learningRate })),
    follow: (policy, environment) =>
      meanOver(environment.tasks("train").slice(0, 3), (task) =>
        expectedValue(policy, task, ["s0", "s1", "s2"], (said) => (said === matchOf(task) ? 0.9 : 0.2)),
      ),
    metric: ({ policy }, seed) => firstTry(policy, seed),
  });

export default defineCheck({
  id: "smart-metastrategy",
  level: "table",
  simpler: ["baseline", "chains"],
  claim:
    "At about as many attempts, teaching the attempt that finally worked as the first improves a habitual first choice more than imitating first successes.",
  metric: "probability that the first attempt is right, exact, after about 600 attempts",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  unequalCost: "a chain holds several attempts: the arm of single attempts gets more problems",
  notes:
    "Tried on other seeds: a habit of e⁴ and about 1000 attempts, where imitating first successes comes to 0.89 and folding back to 0.88: the gain is there while the habit keeps the right strategy from being tried first. Lucky late successes are folded back too, which costs a little at the end.",
  baseline: arm("imitates first successes", rejectionSampling, 1, 30),
  method: arm("folds the successful attempt back", smartMetastrategy, 3, 20),
  others: { chains: arm("imitates successful chains as they were", rejectionSampling, 3, 20) },
});
