import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";

export const mapo = method({
  id: "mapo",
  family: "advantage",
  summary: "averages advantages of returns per turn, normalised at the same turn and over the batch",
  paper: "MAPO: Mixed Advantage Policy Optimization for Long-Horizon Multi-Turn Dialogue",
  mechanism:
    "A judge scores every reply of a dialogue, and a reply's return is the discounted sum of the scores from it on, so later effects count. The same rollouts are compared twice: with other dialogues at the same turn, which removes the effect of the stage but has few samples, and with all turns of the batch, which has many samples from mixed stages. Both are normalised and then averaged; neither a critic nor further sampling is needed.",
  equation: [
    "G[i,k] = Σ_{j ≥ k} γ^(j − k) r[i,j]                                    γ = 0.95",
    "A = α (G − mean_turn) / std_turn + (1 − α) (G − mean_batch) / std_batch    α = ½",
    "turn: the same turn in the dialogues of the same task; of the whole batch where fewer than 4 reach it",
    "loss = mean over dialogues of the clipped surrogate per token + 0.001 KL(π, π_reference)",
  ].join("\n"),
  source:
    "judge per turn, Monte-Carlo returns and the two levels from the paper's abstract; γ, α, the pools and the KL coefficient are ours",
  frozen: { reference: {} },
  options: {
    discount: { help: "γ, discount per turn", default: 0.95, low: 0, high: 1 },
    share: { help: "α, weight of the advantage normalised at the same turn", default: 0.5, low: 0, high: 1 },
    kl: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.001, low: 0 },
  },
  slots: (s, o) => ({
    feedback: turnRewards(),
    credit: perTurn(),
    advantage: [
      returnsToGo({ discount: o.discount, least: 4, normalise: true, weight: o.share }),
      returnsToGo({ discount: o.discount, baseline: "batch", normalise: true, weight: 1 - o.share }),
    ],
    objective: [
      clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh }, normaliser: "rows" }),
      klPenalty({ coefficient: o.kl, normaliser: "rows" }),
    ],
  }),
});
