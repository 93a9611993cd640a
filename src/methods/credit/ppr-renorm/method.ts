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
  summary: "scores of turns are centred together with the outcome, which every turn is paid",
  paper: "Hybrid Reward Normalization for Process-supervised Non-verifiable Agentic Tasks",
  mechanism:
    "A judge scores single turns by principles, a verifier the whole episode. Added up as they are, an agent learns to please the judge. Here both are centred and the outcome is paid at every turn: a good-looking turn of a failure is cancelled instead of rewarded, a poor turn of a success is not fined. A critic and generalised advantages do the rest.",
  equation: [
    "r_t = score_t + outcome − 1   for t < T        score_t, outcome in [0, 1]",
    "r_T = outcome",
    "δ_t = r_t + V_{t+1} − V_t,   A_t = δ_t + λ A_{t+1},   whitened over the batch        λ = 0.95",
  ].join("\n"),
  source:
    "combination and places from the paper's code; scores come as the environment's turn reward `process`; one step of the estimator is one turn, and turns without a score get nothing (ours)",
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
