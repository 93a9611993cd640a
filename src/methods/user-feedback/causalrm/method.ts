import { learntReward } from "../../../feedback/learntReward.ts";
import { lastCrossed } from "../../../helper/crossedWords.ts";
import { observationalReward } from "../../../helper/observationalReward.ts";
import { method } from "../../../method/method.ts";

export const causalrm = method({
  id: "causalrm",
  family: "user-feedback",
  summary: "a reward model from users' own feedback, corrected for wrong clicks and for who stays silent",
  paper: "CausalRM: Causal-Theoretic Reward Modeling for RLHF from Observational User Feedbacks",
  mechanism:
    "What users say of their own accord is wrong now and then, and comes from those who feel strongly. A model of who speaks, fitted to everything that was served, weighs each answer by one over its chance; the rates of wrong clicks, read off the surest answers, turn clicks into unbiased labels; and a guess of what the silent ones would have said makes the whole right if either the chances or the guess is. The policy is trained on the reward model, not on the clicks.",
  equation: [
    "p(x) = P(feedback | x) over all that was served      o = 1 where it came, l ∈ {0, 1} what it said",
    "ŷ = (l − ρ10) / (1 − ρ01 − ρ10)                      the label that noise leaves right on average",
    "L(r) = Σ (r − [g + (o/p)(ŷ − g)])² / N               g: the minimiser of Σ (o/p)(r − ŷ)²",
    "A = (r − mean r) / std r                             over the group",
  ].join("\n"),
  source:
    "surrogate, doubly robust form and anchors from public notes of the paper; squared error as in its experiments. Features are words and pairs of words in place of a language model's embeddings, flip rates are what the surest tenth says rather than the proxy's extremes, chances are at least 0.05, and the policy is trained by GRPO (all ours)",
  helpers: { reward: observationalReward() },
  slots: { feedback: learntReward({ features: (_ctx, t) => lastCrossed(t) }) },
});
