import { randomStream } from "../../../core/random.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { corridor } from "../../../worlds/corridor.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { aem } from "./method.ts";

/** In half of the states the initial policy is confident of an action, right or wrong; in the others it is uniform. */
function engine(seed: number) {
  const random = randomStream(seed).split("habits");
  const prior: Prior = (context, word) => {
    if (!/^a\d$/.test(word)) return -1e9;
    const state = context.slice(1, 3).join(" ");
    const habit = random.split(state);
    return habit.next() < 0.5 && word === `a${habit.below(4)}` ? 3 : 0;
  };
  return tabularEngine({ context: "message", prior });
}

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment: (seed) => corridor({ cells: 5, kinds: 8, fatal: 0.5, pay: "end", layouts: 16, seed }),
    engine,
    iterations: 70,
    settings: {
      ...plainAscent,
      tasks: 8,
      groupSize: 8,
      gradientClip: 1000,
    },
    grid: [30, 60, 120, 240].map((learningRate) => ({ learningRate })),
  });

export default defineCheck({
  id: "aem",
  level: "shared",
  claim:
    "Weighing responses by how sure the policy was of them makes group-normalised practice succeed more.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.01,
  range: [0, 1],
  tuningSeeds: 2,
  notes:
    "On other seeds, also with surer habits (logit 5) and with pay for each cell: below the best step size GRPO is ahead, above it AEM is, and at the best one they differ by 0.02 or less; scaling by c makes the whole step somewhat smaller. k = −1 and k = 3 did worse than either (0.57 and 0.39 against 0.62 and 0.62 with half the kinds). In a table a sure state's own step is all that c changes; what a network's shared weights make of it does not show.",
  baseline: arm(grpo),
  method: arm(aem),
});
