import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { entropyBonus } from "../../../objective/entropyBonus.ts";
import { entropyBand, epoSchedule } from "./entropyBand.ts";
import { entropyHistory } from "./entropyHistory.ts";

export const epo = method({
  id: "epo",
  family: "objective",
  summary: "an entropy bonus, with a band around each turn's historical mean entropy",
  paper: "EPO: Entropy-regularized Policy Optimization for LLM Agents Reinforcement Learning",
  mechanism:
    "In long episodes with rewards at their end a policy first converges too early; later, once pushed to explore, its entropy grows without control. The bonus addresses the first problem, over all turns of an episode. The band addresses the second: a turn's entropy is penalised where it leaves a band around its past mean at that turn, strongly at first and weakly at the end.",
  equation: [
    "loss = loss of GRPO − c · mean(H) + c · α · w(k) · mean(p)",
    "p = max(0, H − 1.2 H̄[turn]) + max(0, 0.8 H̄[turn] − H)        H̄: mean over past iterations",
    "w(k): 1 falling to 0.83 over the first half of training, 0.8 falling to 0.04 over the second",
  ].join("\n"),
  source:
    "band and schedule from the paper's code, whose penalty counts tokens outside the band and so has no gradient; the hinge is ours, and so is α = 2, since α ≤ 1 cannot lower the entropy; c = 0.03 for small agents (ours; 0.001 in the paper)",
  needs: ["entropy"],
  options: {
    entropy: { help: "coefficient of the entropy bonus, per nat", default: 0.03, low: 0 },
    band: {
      help: "coefficient of the penalty outside the band of entropies, per nat",
      default: 0.06,
      low: 0,
    },
  },
  slots: ({ clipLow, clipHigh }, o) => ({
    advantage: [groupNormalised(), entropyHistory()],
    objective: [
      clippedRatio({ clip: { low: clipLow, high: clipHigh } }),
      entropyBonus({ coefficient: o.entropy }),
      entropyBand({ coefficient: o.band, schedule: epoSchedule }),
    ],
  }),
});
