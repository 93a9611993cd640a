import { randomStream } from "../../../core/random.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { defineCheck } from "../../../train/check.ts";
import { averageOf, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { corridor } from "../../../worlds/corridor.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { odysseus } from "./method.ts";

const environment = (seed: number) => corridor({ cells: 100, kinds: 4, layouts: 10, seed });

/** A partly trained policy: in every state the right action is the likeliest, with probability 0.4. */
function engine(seed: number) {
  const { expert, tasks } = environment(seed);
  const [task] = tasks("train");
  const prior: Prior = (context, word) => {
    if (!/^a\d$/.test(word)) return -1e9;
    const state = context.slice(1, 3).join(" ");
    return word === expert!(task!, [{ role: "user", content: state }], randomStream(seed)) ? 0.7 : 0;
  };
  return tabularEngine({ context: "message", prior });
}

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment,
    engine,
    iterations: 60,
    contextTokens: 2048,
    // a cell's reward is 0.01, so a tabular critic needs smaller steps than the logits
    settings: { tasks: 1, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0, criticRate: 0.1 },
    grid: [0.03, 0.1, 0.3, 1].map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => averageOf(curve, "reward"),
    more: ({ curve }) => ({ atTheEnd: averageOf(curve.slice(-5), "reward") }),
  });

export default defineCheck({
  id: "odysseus",
  level: "shared",
  claim:
    "With a critic that says one value per turn, practice gets further in episodes of a hundred turns than GRPO.",
  metric: "mean share of a corridor of 100 cells over training",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(grpo),
  method: arm(odysseus),
});
