import { scoredUnits, spread } from "../../../advantage/returns.ts";
import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Advantage } from "../../../core/slots.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Environment } from "../../../env/environment.ts";
import { chainWords, toolChains } from "../../../env/toolChains.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { reinforce } from "../../baseline/reinforce/method.ts";
import { openagiRltf } from "./method.ts";

/** Six tasks, one chain of each per step, 120 steps: 720 chains. A free chain often ends early: 1620 have about as many tokens. */
const [tasks, iterations, freeIterations] = [6, 120, 270];

/** A table that writes one tool, or stop, and then the end token. */
const oneTool: Prior = (context, word) => {
  const begins = context.at(-1) === "<assistant>";
  return (begins ? chainWords.includes(word) : word === "<end>") ? 0 : -1e9;
};

/** The same recipe with other weights on its log-probabilities. */
const weighed = (recipe: Recipe, advantage: Advantage): Recipe => ({
  ...recipe,
  build: (settings) => {
    const built = recipe.build(settings);
    return { ...built, slots: { ...built.slots, advantage: [advantage] } };
  },
});

/** As in the released code: every chain's weight is the mean of all rewards of the current pass over the tasks so far. */
const meanOfPass: Advantage<null> = {
  name: "meanOfPass",
  init: () => null,
  apply: (annotated, _state, soFar) => {
    let sum = 0;
    const values = new Map(
      scoredUnits(annotated, {}).map((s, i): [string, number] => {
        sum += s.value;
        return [s.unit.id, sum / (i + 1)];
      }),
    );
    return { advantages: spread(annotated, values, soFar), next: null, stats: {} };
  },
};

/**
 * The environment with another reward for an ill-typed chain.
 * @param agreements filled with the agreement of every chain, in the order of play; 0 for an ill-typed one.
 */
function recorded(inner: Environment, illTyped: number, agreements: number[]): Environment {
  return {
    ...inner,
    start: async (task, random) => {
      const episode = await inner.start(task, random);
      return {
        ...episode,
        act: async (action) => {
          const step = await episode.act(action);
          const outcome = step.rewards?.outcome;
          if (outcome === undefined) return step;
          agreements.push(Math.max(0, outcome));
          return { ...step, rewards: { outcome: outcome < 0 ? illTyped : outcome } };
        },
      };
    },
  };
}

/** @param grid step size, and for free choice what an ill-typed chain earns. */
const arm = (
  what: string,
  recipe: Recipe,
  grid: readonly { readonly learningRate: number; readonly illTyped?: number }[],
  steps = iterations,
): Arm => ({
  what,
  grid,
  measure: (choice, seed) => {
    const agreements: number[] = [];
    return trainingArm({
      recipe,
      environment: () => recorded(toolChains({ tasks, seed }), Number(choice.illTyped ?? -1), agreements),
      engine: () => tabularEngine({ prior: oneTool }),
      iterations: steps,
      settings: { ...plainAscent, tasks, groupSize: 1 },
      grid: [choice],
      metric: () => mean(agreements.slice(-Math.round(agreements.length / 5))),
      more: ({ curve }) => ({ success: averageOf(curve.slice(-steps / 5), "success") }),
    }).measure(choice, seed);
  },
});

const free = weighed(reinforce, runningBaseline({ per: "group" }));
const rates = [10, 30, 100, 300].map((learningRate) => ({ learningRate }));

export default defineCheck({
  id: "openagi-rltf",
  level: "shared",
  claim:
    "Choosing only among tools that fit, and crediting each chain with its own result less its task's average, learns better chains than free choice does, whether or not an ill-typed chain is punished.",
  metric:
    "agreement with the expected result, mean over the last fifth of training; 0 for an ill-typed chain",
  direction: "higher",
  smallestEffect: 0.1,
  range: [0, 1],
  baseline: arm(
    "REINFORCE with a baseline per task, any tool at any time; an ill-typed chain earns 0 or −0.1",
    free,
    [0, -0.1].flatMap((illTyped) => [30, 100].map((learningRate) => ({ learningRate, illTyped }))),
    freeIterations,
  ),
  method: arm("only tools that fit, a baseline per task", openagiRltf, rates),
  others: {
    released: arm(
      "only tools that fit, the mean reward of the pass",
      weighed(openagiRltf, meanOfPass),
      rates,
    ),
  },
  simpler: ["baseline", "released"],
  unequalCost:
    "an ill-typed chain ends at once, so free choice plays 1620 chains against 720, to sample about as many tokens",
  notes:
    "What an ill-typed chain earns belongs to the grid of free choice: at the environment's −1, in an earlier design, it learnt to stop at once, which is worth 0, at every step size (0.02). With 1080 chains, two thirds of the tokens, it reached 0.14 where the method reached 0.58. Step sizes are large since the loss is a mean over tokens.",
});
