import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { withDemonstrations } from "../../../rollout/demonstrated.ts";
import { type Arm, defineCheck, type Measured } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { trainingArm } from "../../../train/trainingArm.ts";
import { sft } from "../../baseline/sft/method.ts";
import { annotated, qualitiesOf, wordsOf } from "./annotated.ts";
import { demonstrationsWin } from "./demonstrationsWin.ts";
import { seppo } from "./method.ts";
import { pastSelf } from "./pastSelf.ts";
import { drawnFromPool, pool } from "./pool.ts";

const beta = 0.3;
const environment = (seed: number) => annotated({ seed, questions: 60, topics: 12 });

/** One table row per topic: the question's own word is ignored. The end token follows the reply. */
const engine = () =>
  tabularEngine({
    context: 3,
    prior: (context, word) =>
      /^a\d+$/.test(context.at(-1) ?? "") === (word === "<end>") && /^a\d+$|<end>/.test(word) ? 0 : -1e9,
  });

/** Exact expected quality of a reply, mean over topics. */
const quality = ({ policy }: TrainedInMemory, seed: number): Promise<number> =>
  meanOver(environment(seed).tasks("test"), (task) =>
    expectedValue(policy, task, wordsOf(task), (_, i) => qualitiesOf(task)[i]!),
  );

/** SePPO with another pool, or without the anchor. */
const variant = (id: string, summary: string, size: number, rejected: number | "anchored"): Recipe =>
  method({
    id,
    family: "objective",
    summary,
    defaults: { epochs: 8, minibatches: 1 },
    frozen: pool(size),
    slots: ({ groupSize, temperature }) => ({
      rollout: withDemonstrations(pastSelf({ size, groupSize, temperature })),
      feedback: demonstrationsWin(),
      advantage: preferencePairs(),
      objective: pairwise({
        model: "policy",
        beta,
        rejected,
        against: (ctx) => ({ [drawnFromPool(ctx, size)]: 1 }),
      }),
    }),
  });

/** The same run at each of three step sizes, so that no arm benefits from a favourable step size. */
function arm(recipe: Recipe): Arm {
  const steps = [0.05, 0.12, 0.3].map((learningRate) => ({ learningRate }));
  const run = trainingArm({
    recipe,
    environment,
    engine,
    iterations: 30,
    settings: { tasks: 60, groupSize: 1, epochs: 8, minibatches: 1, warmUp: 0, schedule: "constant" },
    grid: steps,
    metric: quality,
  });
  return {
    what: recipe.summary,
    grid: [{}],
    async measure(_choice, seed) {
      const measured: Measured[] = [];
      for (const step of steps) measured.push(await run.measure(step, seed));
      const total = (of: (m: Measured) => number): number => measured.reduce((sum, m) => sum + of(m), 0);
      return {
        value: mean(measured.map((m) => m.value)),
        cost: { episodes: total((m) => m.cost.episodes), tokens: total((m) => m.cost.tokens) },
        more: Object.fromEntries(measured.map((m, i) => [`step ${steps[i]!.learningRate}`, m.value])),
      };
    },
  };
}

export default defineCheck({
  id: "seppo",
  level: "table",
  simpler: ["SFT"],
  claim:
    "Learning from demonstrations against earlier selves, the anchor keeps late training from doing harm: without it every sample of an earlier self is taken for a loser.",
  metric: "expected quality of replies after 30 iterations, exact, mean over three step sizes",
  direction: "higher",
  smallestEffect: 0.02,
  range: "unbounded",
  tuningSeeds: 3,
  notes:
    "With the step size chosen for each arm on other seeds, the anchor made no difference that could be told from noise, at β of 0.2, 1 and 4 and with 2 to 6 demonstrations a topic: a table has nothing to generalise over, and the best step stops before the harm. Imitation alone does about as well as SePPO here. So what is measured is the harm itself, at step sizes that are the same for both.",
  baseline: arm(variant("unanchored", "random checkpoint, its replies always lose", 8, 1)),
  method: arm(seppo),
  others: { SFT: arm(sft) },
});
