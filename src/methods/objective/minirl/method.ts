import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { gatedRatio } from "./gatedRatio.ts";

export const minirl = method({
  id: "minirl",
  family: "objective",
  summary:
    "minimal stable recipe: token importance weights against the sampler, a gate on the policy's change",
  paper: "Stabilizing Reinforcement Learning with LLMs: Formulation and Practices",
  mechanism:
    "The objective is the expected reward of whole sequences; the loss is a sum of token terms. Both have the same gradient to first order in the change of each token's probability, so the token loss is valid as long as the ratio of trainer to sampler stays near 1. That ratio has two factors: the mismatch of sampler and trainer at equal weights, and the staleness of the sample. The importance weight corrects both, and the gate keeps the second one small.",
  equation: [
    "A = R − mean(R)                                  over the group; no deviation, no length",
    "loss = −mean over answers of Σ_t M_t · (π_t / μ_t) · A",
    "M_t = 0 where A > 0 and π_t/π_old,t > 1 + ε_high, or A < 0 and π_t/π_old,t < 1 − ε_low",
    "μ: the sampler, π_old: the same weights scored by the trainer, π: the current weights",
  ].join("\n"),
  source:
    "the recipe from notes on the paper; ε_low 0.2, ε_high 0.27 and a cap of 5 on π_old/μ are quoted from memory; routing replay has no counterpart in models without experts",
  options: {
    gateLow: {
      help: "how far a ratio may fall before a token of negative advantage is dropped",
      default: 0.2,
      low: 0,
      high: 1,
    },
    gateHigh: {
      help: "how far a ratio may rise before a token of positive advantage is dropped",
      default: 0.27,
      low: 0,
    },
    cap: { help: "largest correction from the sampler to the trainer", default: 5, low: 1 },
  },
  slots: (_s, o) => ({
    advantage: groupNormalised({ scale: "none" }),
    objective: gatedRatio({ clip: { low: o.gateLow, high: o.gateHigh }, cap: o.cap }),
  }),
});
