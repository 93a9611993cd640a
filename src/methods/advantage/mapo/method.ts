import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";

const discount = 0.95;
/** α: what the comparison at the same turn has of the whole. */
const share = 0.5;

export const mapo = method({
  id: "mapo",
  family: "advantage",
  summary: "returns per turn against the same turn of other dialogues and against all turns, half and half",
  paper: "MAPO: Mixed Advantage Policy Optimization for Long-Horizon Multi-Turn Dialogue",
  mechanism:
    "A judge scores every reply of a dialogue, and the scores that follow a reply are its return, so that later effects reach back. The same rollouts are compared twice: with other dialogues at the same turn, which takes the effect of the stage away but has few to compare, and with all turns of the batch, which are many but mixed. Both are normalised and then averaged; no critic and no further sampling is needed.",
  equation: [
    "G[i,k] = Σ_{j ≥ k} γ^(j − k) r[i,j]                                    γ = 0.95",
    "A = α (G − mean_turn) / std_turn + (1 − α) (G − mean_batch) / std_batch    α = ½",
    "turn: the same turn in the dialogues of the same task; of the whole batch where fewer than 4 reach it",
    "loss = mean over dialogues of the clipped surrogate per token + 0.001 KL(π, π_reference)",
  ].join("\n"),
  source:
    "judge per turn, Monte-Carlo returns and the two levels from the paper's abstract; γ, α, pools, and the coefficient of the divergence ours",
  frozen: { reference: {} },
  slots: (s) => ({
    feedback: turnRewards(),
    credit: perTurn(),
    advantage: [
      returnsToGo({ discount, least: 4, normalise: true, weight: share }),
      returnsToGo({ discount, baseline: "batch", normalise: true, weight: 1 - share }),
    ],
    objective: [
      clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh }, normaliser: "rows" }),
      klPenalty({ coefficient: 0.001, normaliser: "rows" }),
    ],
  }),
});
