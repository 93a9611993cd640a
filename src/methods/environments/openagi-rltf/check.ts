import { scoredUnits, spread } from "../../../advantage/returns.ts";
import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import type { Advantage } from "../../../core/slots.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { chainWords, toolChains } from "../../../env/toolChains.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { reinforce } from "../../baseline/reinforce/method.ts";
import { openagiRltf } from "./method.ts";

/** Six tasks, one chain of each per step, 200 steps: 1200 chains. */
const [tasks, iterations, last] = [6, 200, 40];

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

/** Mean agreement with the expected result, over the last fifth of training; −1 for an ill-typed chain. */
const agreement = ({ curve }: TrainedInMemory): number => averageOf(curve.slice(-last), "reward");

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => toolChains({ tasks, seed }),
    engine: () => tabularEngine({ prior: oneTool }),
    iterations,
    settings: { ...plainAscent, tasks, groupSize: 1 },
    grid: [10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: agreement,
    more: (done) => ({ success: averageOf(done.curve.slice(-last), "success") }),
  });

const free = weighed(reinforce, runningBaseline({ per: "group" }));

export default defineCheck({
  id: "openagi-rltf",
  level: "shared",
  claim:
    "Choosing only among tools that fit, and crediting each chain with its own result less its task's average, learns better chains than free choice does.",
  metric: "mean reward over the last fifth of 1200 chains: agreement in 0…1, −1 for an ill-typed chain",
  direction: "higher",
  smallestEffect: 0.1,
  tuningSeeds: 2,
  baseline: arm("REINFORCE with a baseline per task, any tool at any time", free),
  method: arm("only tools that fit, a baseline per task", openagiRltf),
  others: {
    released: arm("only tools that fit, the mean reward of the pass", weighed(openagiRltf, meanOfPass)),
  },
  notes:
    "Free choice learns to stop at once at every step size: nothing made is worth 0, an ill-typed chain −1, and a chain that fits is seldom hit by chance. On one trial seed with 1500 chains bare own rewards, held to what fits, reached 0.61 where the baseline per task reached 0.82. Step sizes are large since the loss is a mean over tokens.",
});
