import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { renormalised } from "./renormalised.ts";

export const pprRenorm = method({
  id: "ppr-renorm",
  family: "credit",
  summary: "centres judge scores of turns together with the outcome, which every turn receives",
  paper: "Hybrid Reward Normalization for Process-supervised Non-verifiable Agentic Tasks",
  mechanism:
    "A judge scores single turns by principles, and a verifier scores the whole episode. If the two are simply added, the agent learns to please the judge. Here both are centred and every turn receives the outcome: a high-scored turn of a failed episode gets no net reward, and a low-scored turn of a success is not penalised. Advantages come from a critic by GAE.",
  equation: [
    "r_t = score_t + outcome − 1   for t < T        score_t, outcome in [0, 1]",
    "r_T = outcome",
    "δ_t = r_t + V_{t+1} − V_t,   A_t = δ_t + λ A_{t+1},   whitened over the batch        λ = 0.95",
  ].join("\n"),
  source:
    "the combination and the reward positions from the paper's code; scores come as the environment's turn reward `process`; one step of the estimator is one turn, and turns without a score get nothing (ours)",
  models: { critic: { from: "fresh", heads: ["value"] } },
  needs: ["heads"],
  slots: ({ clipLow: low, clipHigh: high }) => ({
    annotate: values(),
    feedback: [outcome({ rewards: ["outcome"] }), turnRewards({ rewards: ["process"], channel: "process" })],
    credit: renormalised(),
    advantage: [gae({ level: "turn" }), whitened()],
    objective: [clippedRatio({ clip: { low, high } }), valueRegression()],
  }),
});
