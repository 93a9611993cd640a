import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { finalSuccess, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { pprRenorm } from "./method.ts";
import { queries } from "./queries.ts";

/** The same critic and estimator; only the outcome at the end of the episode, or with the scores added. */
const usual = (id: string, summary: string, channels: readonly ("outcome" | "process")[]) =>
  method({
    id,
    family: "credit",
    summary,
    models: { critic: { from: "fresh", heads: ["value"] } },
    slots: {
      annotate: values(),
      feedback: [
        outcome({ rewards: ["outcome"] }),
        turnRewards({ rewards: ["process"], channel: "process" }),
      ],
      credit: perTurn(),
      advantage: [gae({ level: "turn", channels }), whitened()],
      objective: [clippedRatio(), valueRegression()],
    },
  });

/** Initially good and verbose queries are rarer than bad ones; the time of the answer is fixed. */
const prior = (context: readonly string[], word: string): number => {
  if (context.at(-3) === "4") return word === "answer" ? 0 : -1e9;
  return word === "bad" ? 0.7 : word === "good" || word === "verbose" ? 0 : -1e9;
};

const arm = (recipe: TrainingArm["recipe"]): Arm =>
  trainingArm({
    recipe,
    environment: () => queries(),
    engine: () => tabularEngine({ context: "message", prior }),
    iterations: 60,
    settings: { tasks: 5, groupSize: 4, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [{ learningRate: 0.03 }, { learningRate: 0.1 }, { learningRate: 0.3 }, { learningRate: 1 }],
    metric: finalSuccess(20),
  });

export default defineCheck({
  id: "ppr-renorm",
  level: "table",
  simpler: ["outcome"],
  claim:
    "Centring scores with the outcome keeps an agent from pleasing a judge that can be fooled, where scores beside the outcome do not.",
  metric: "success over the last 400 episodes",
  direction: "higher",
  smallestEffect: 0.05,
  tuningSeeds: 2,
  baseline: arm(usual("process", "scores per turn, outcome at the end", ["outcome", "process"])),
  method: arm(pprRenorm),
  others: { outcome: arm(usual("outcome", "outcome at the end alone", ["outcome"])) },
  notes:
    "Scores beside the outcome do best at the smallest step size, where least is learnt: that edge of the grid is no room left. The outcome alone does as well as ReNorm here; what is shown is that the scores do no harm, not that they help.",
});
