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
    grid: [0.03, 0.1, 0.2, 0.3, 0.5, 1].map((learningRate) => ({ learningRate })),
    more: async (done) => ({ last: finalSuccess(20)(done) }),
  });

export default defineCheck({
  id: "ppr-renorm",
  level: "table",
  simpler: ["baseline", "scores beside"],
  claim:
    "Scores of a judge that can be fooled, centred with the outcome, teach sooner than the outcome alone.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm(usual("outcome", "outcome at the end alone", ["outcome"])),
  method: arm(pprRenorm),
  others: {
    "scores beside": arm(usual("process", "scores per turn, outcome at the end", ["outcome", "process"])),
  },
  notes:
    "The first design's opponent was the scores beside the outcome, uncentred, which teach the agent to please the judge (success 0.18 over the last 400 episodes, against 0.88 centred and 0.999 for the outcome alone). So what ReNorm is shown to do is to keep such scores from doing harm.",
});
