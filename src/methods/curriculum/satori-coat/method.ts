import { gae } from "../../../advantage/gae.ts";
import { newColumn, newTurns } from "../../../advantage/newTurns.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { onColumn } from "../../../objective/onColumn.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { reflect, restarted, restartReward } from "./restarted.ts";

export const satoriCoat = method({
  id: "satori-coat",
  family: "curriculum",
  summary: "restarts from beginnings of its own attempts with a word to reflect, and pays for repairs",
  paper:
    "Satori: Reinforcement Learning with Chain-of-Action-Thought Enhances LLM Reasoning via Autoregressive Search",
  mechanism:
    "An attempt begins at the task, or at a random turn of one of the model's own earlier attempts, right or wrong, followed by a word that asks it to reflect. A bonus pays for a wrong beginning that ends right, and charges for a right one that ends wrong. So the model learns to check what it has done and to leave a line that fails. Only what it adds to the beginning is trained on.",
  equation: [
    "start: x, or x + the first L − b turns of y + reflect,  y from D+ or D−,  b uniform",
    "r = ½ + (c − 1) + bonus · k        c: right or not;  k = 1 from D− to right, −1 from D+ to wrong, else 0",
    "PPO with a value before each token, on the new turns",
  ].join("\n"),
  source:
    "restarts, reward and the loss from the paper and its code, without the learnt reward model (½ is its middle); a bonus of ½, half of the starts from the task and b from 1 to L − 1 turns are ours. A step is a turn. The first imitation of traces with the three words, and distilling into the first model for a second round, are left out",
  baseline: "ppo",
  models: { critic: { from: "fresh", heads: ["value"] } },
  frozen: { reference: {} },
  needs: ["heads"],
  says: [reflect],
  options: {
    restarts: { help: "share of attempts that begin at an earlier one", default: 0.5, low: 0, high: 1 },
    bonus: {
      help: "bonus for a repair, charged for a right beginning that is spoilt",
      default: 0.5,
      low: 0,
      high: 10,
    },
    kl: { help: "weight of the divergence from the first policy", default: 0.01, low: 0, high: 100 },
    lambda: { help: "λ of generalised advantage estimation", default: 0.95, low: 0, high: 1 },
  },
  slots: (s, { restarts, bonus, kl, lambda }) => ({
    rollout: restarted({ groupSize: s.groupSize, temperature: s.temperature, restarts }),
    annotate: values(),
    feedback: restartReward(bonus),
    credit: perTurn(),
    advantage: [gae({ lambda }), whitened(), newTurns()],
    objective: [
      onColumn(clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), newColumn),
      onColumn(valueRegression(), newColumn),
      ...(kl > 0 ? [onColumn(klPenalty({ coefficient: kl }), newColumn)] : []),
    ],
  }),
});
