import { method } from "../../../method/method.ts";
import { negativeAware } from "./negativeAware.ts";
import { successRates } from "./successRates.ts";

export const nft = method({
  id: "nft",
  family: "objective",
  summary: "negative-aware fine-tuning: also fits wrong answers, under an implicit negative policy",
  paper: "Bridging Supervised Learning and Reinforcement Learning in Math Reasoning",
  mechanism:
    "The sampling policy is seen as a mixture of a policy that writes right answers and one that writes wrong ones, in proportions r : 1 − r of the task's success rate. Wrong answers are fitted by maximum likelihood under the implicit negative policy, which is expressed through the positive one, so one network learns from both kinds by a supervised loss. At the sampling policy its gradient equals a policy gradient with the group's mean as baseline.",
  equation: [
    "R = π(t) / π_old(t),   r: share of right answers in the group, 0 < r < 1",
    "π⁻ = (π_old − r π) / (1 − r)",
    "loss = −Σ_t (1 − r) · ( ln R                                    on right answers",
    "                        ln max_v((1 − r R)/(1 − r), 1) )        on wrong ones; max_v keeps the gradient below the floor",
  ].join("\n"),
  source: "floor 1, weight 1 − r, token mean and leaving out groups without spread are all from the paper",
  options: {
    floor: { help: "least likelihood ratio of the implicit negative policy", default: 1, low: 1e-6, high: 1 },
    weight: {
      help: "weight of a group with success rate r: 1 − r, √((1 − r)/r) or 1",
      default: "failures",
      oneOf: ["failures", "deviation", "none"],
    },
  },
  slots: (_s, o) => ({ advantage: successRates(), objective: negativeAware(o) }),
});
