import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import type { Feedback } from "../../../core/slots.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { contributions } from "../../../feedback/contributions.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { ridge } from "../../../helper/ridge.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { lamps } from "../../../worlds/lamps.ts";
import { spaRl } from "./method.ts";

/** The method's critic and estimator with other turn rewards. */
const paidBy = (id: string, summary: string, feedback: Feedback) =>
  method({
    id,
    family: "credit",
    summary,
    models: { critic: { from: "fresh", heads: ["value"] } },
    helpers: { progress: ridge() },
    slots: {
      annotate: values(),
      feedback,
      credit: perTurn(),
      advantage: [gae({ level: "turn" }), whitened()],
      objective: [clippedRatio(), valueRegression()],
    },
  });

const prior = (_: readonly string[], word: string): number =>
  ["left", "middle", "right"].includes(word) ? 0 : -1e9;

const arm = (recipe: TrainingArm["recipe"]): Arm =>
  trainingArm({
    recipe,
    environment: (seed) => lamps({ seed, places: 12, error: 6 }),
    engine: () => tabularEngine({ context: "message", prior }),
    contextTokens: 1024,
    iterations: 50,
    settings: { tasks: 1, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    metric: ({ curve }) => averageOf(curve.slice(-10), "reward"),
    grid: [{ learningRate: 0.1 }, { learningRate: 0.3 }, { learningRate: 1 }],
  });

export default defineCheck({
  id: "spa-rl",
  level: "shared",
  claim:
    "Contributions learnt from the outcomes of exploration teach more than the outcome at the end does, exploration included in the budget.",
  metric: "lights minus bumps per walk of 30 steps, over the last 80 of 400 episodes",
  direction: "higher",
  smallestEffect: 0.5,
  range: [-30, 30],
  tuningSeeds: 2,
  baseline: arm(paidBy("terminal", "the outcome at the last turn", outcome({ rewards: ["outcome"] }))),
  method: arm(spaRl),
  others: { frozen: arm(paidBy("frozen", "contributions as they were after exploration", contributions())) },
  notes:
    "With other seeds an estimator that stays as it was after 160 episodes of exploration, as in the paper, did about as well as the outcome alone: too few episodes for it, and they count. Refitted on each batch it went on to gain. In a corridor with a key and a door, where a single success tells the whole way, the outcome alone needs no help at its best step size, and estimators that saw few successes stopped practice altogether.",
});
