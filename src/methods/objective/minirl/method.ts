import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { gatedRatio } from "./gatedRatio.ts";

export const minirl = method({
  id: "minirl",
  family: "objective",
  summary: "minimal stable recipe: token weights against the sampler, a gate on the trainer's own movement",
  paper: "Stabilizing Reinforcement Learning with LLMs: Formulation and Practices",
  mechanism:
    "What is wanted is the expected reward of whole sequences; what is trained is a sum of token terms. Both have the same gradient to first order in how far each token's probability moved, so the token loss is right as long as the ratio of trainer to sampler stays near 1. That ratio has two factors, what sampler and trainer disagree about at equal weights and how stale the sample is: the weight corrects both, and the gate keeps the second one small.",
  equation: [
    "A = R − mean(R)                                  over the group; no deviation, no length",
    "loss = −mean over answers of Σ_t M_t · (π_t / μ_t) · A",
    "M_t = 0 where A > 0 and π_t/π_old,t > 1 + ε_high, or A < 0 and π_t/π_old,t < 1 − ε_low",
    "μ: the sampler, π_old: the same weights scored by the trainer, π: the current weights",
  ].join("\n"),
  source:
    "the recipe from notes on the paper; ε_low 0.2, ε_high 0.27 and a cap of 5 on π_old/μ are recalled; routing replay has no counterpart in models without experts",
  slots: { advantage: groupNormalised({ scale: "none" }), objective: gatedRatio() },
});
