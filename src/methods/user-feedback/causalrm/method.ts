import { learntReward } from "../../../feedback/learntReward.ts";
import { lastCrossed } from "../../../helper/crossedWords.ts";
import { observationalReward } from "../../../helper/observationalReward.ts";
import { method } from "../../../method/method.ts";

export const causalrm = method({
  id: "causalrm",
  family: "user-feedback",
  summary: "a reward model from observational user feedback, corrected for label noise and selection bias",
  paper: "CausalRM: Causal-Theoretic Reward Modeling for RLHF from Observational User Feedbacks",
  mechanism:
    "Spontaneous user feedback contains errors, and comes mostly from users with strong opinions. A propensity model, fitted to everything that was served, weights each answer by the inverse probability of feedback. The error rates of clicks, estimated on the most certain answers, turn clicks into unbiased labels. An imputation of the missing feedback makes the estimate doubly robust: it is unbiased if either the propensities or the imputation are correct. The policy is trained on the reward model, not on the clicks.",
  equation: [
    "p(x) = P(feedback | x) over everything served      o = 1 where feedback exists, l ∈ {0, 1} its label",
    "ŷ = (l − ρ10) / (1 − ρ01 − ρ10)                      the label corrected for noise (unbiased)",
    "L(r) = Σ (r − [g + (o/p)(ŷ − g)])² / N               g: the minimiser of Σ (o/p)(r − ŷ)²",
    "A = (r − mean r) / std r                             over the group",
  ].join("\n"),
  source:
    "surrogate, doubly robust form and anchors from public notes of the paper; squared error as in its experiments. Features are words and pairs of words in place of a language model's embeddings, flip rates come from the most certain tenth instead of the proxy's extremes, propensities are at least 0.05, and the policy is trained by GRPO (all ours)",
  helpers: { reward: observationalReward() },
  slots: { feedback: learntReward({ features: (_ctx, t) => lastCrossed(t) }) },
});
