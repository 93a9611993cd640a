import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import type { Feedback } from "../../../core/slots.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { contributions } from "../../../feedback/contributions.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { ridge } from "../../../helper/ridge.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { lamps } from "../../../worlds/lamps.ts";
import { wordFactors } from "./factors.ts";
import { lare } from "./method.ts";

/** The method's estimator with other turn rewards. */
const paidBy = (id: string, summary: string, feedback: Feedback) =>
  method({
    id,
    family: "credit",
    summary,
    helpers: { reward: ridge({ strength: 0.1 }) },
    slots: { feedback, credit: perTurn(), advantage: returnsToGo({ discount: 0.8, normalise: true }) },
  });

const words = contributions({
  helper: "reward",
  features: wordFactors,
  explore: 0,
  refit: true,
  sample: { steps: 5, draws: 4 },
  channel: "proxy",
});

const prior = (_: readonly string[], word: string): number =>
  ["left", "middle", "right"].includes(word) ? 0 : -1e9;

const arm = (recipe: TrainingArm["recipe"]): Arm =>
  trainingArm({
    recipe,
    environment: (seed) => lamps({ seed, places: 20, error: 4 }),
    engine: () => tabularEngine({ context: "message", prior }),
    contextTokens: 1024,
    iterations: 30,
    settings: { tasks: 1, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [{ learningRate: 0.03 }, { learningRate: 0.1 }, { learningRate: 0.3 }, { learningRate: 1 }],
    metric: ({ curve }) => averageOf(curve.slice(-10), "reward"),
  });

export default defineCheck({
  id: "lare",
  level: "shared",
  simpler: ["words"],
  claim: "Taking returns apart over a few factors teaches more in few episodes than the return itself does.",
  metric: "lights minus bumps per walk of 30 steps, over the last 80 of 240 episodes",
  direction: "higher",
  smallestEffect: 0.5,
  range: [-30, 30],
  tuningSeeds: 2,
  baseline: arm(paidBy("return", "the return at the last step", outcome({ rewards: ["outcome"] }))),
  method: arm(lare),
  others: { words: arm(paidBy("words", "taken apart over every word that is said", words)) },
});
