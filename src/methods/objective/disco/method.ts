import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { discriminative } from "./discriminative.ts";

export const disco = method({
  id: "disco",
  family: "objective",
  summary: "scores right answers above wrong ones; every question with mixed outcomes has the same weight",
  paper: "DisCO: Reinforcing Large Reasoning Models with Discriminative Constrained Optimization",
  mechanism:
    "With rewards of 0 and 1 the GRPO gradient of a question is √(p(1 − p)) times the difference between the mean scores of its right and its wrong answers, so very hard and very easy questions hardly count. DisCO drops that weight and maximises the difference itself, with a soft maximum over the wrong answers that emphasises the likeliest ones. No ratio is clipped; a hinge penalty on the KL divergence from the sampling policy bounds the steps.",
  equation: [
    "s(y) = mean over tokens of ln π(y_t)",
    "J_q  = mean_{y right} s(y) − τ · ln mean_{y wrong} exp(s(y)/τ)             τ = 10",
    "loss = −1/Q Σ_q J_q + stop[β · max(KL − δ, 0)] · KL                       β = 100, δ = 0.05 nats per token",
    "KL   = mean over tokens of (ln π_old − ln π)",
  ].join("\n"),
  source:
    "τ from the paper's code (log-likelihood score); β and δ ours: the paper's 1000 and 1e-4 are for large models, which change little per step",
  defaults: { epochs: 4, minibatches: 1 }, // the hinge is zero on the first step
  options: {
    hinge: { help: "β, coefficient of the hinge on the KL divergence, per nat", default: 100, low: 0 },
    budget: { help: "δ, divergence without penalty, nats per token", default: 0.05, low: 0 },
  },
  slots: (_s, o) => ({
    advantage: groupNormalised({ scale: "none" }), // its sign tells right from wrong
    objective: discriminative(o),
  }),
});
