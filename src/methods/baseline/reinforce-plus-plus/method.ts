import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";

export const reinforcePlusPlus = method({
  id: "reinforce-plus-plus",
  family: "baseline",
  summary: "whitens returns over the whole batch instead of within groups; one attempt per task is enough",
  paper: "REINFORCE++: Stabilizing Critic-Free Policy Optimization with Global Advantage Normalization",
  mechanism:
    "A mean and a deviation from the few attempts at one task are noisy and biased, and overfit to easy tasks. Taken over the whole batch they are nearly constant, so the advantage is nearly unbiased, no critic is needed, and the budget can be spent on different tasks instead of repeated attempts.",
  equation: [
    "A[t] = (R[t] − mean(R)) / std(R)                                   R: return from t on; mean and std over the tokens of the batch",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) + β · mean of ½ (ln π(t) − ln π_ref(t))²",
  ].join("\n"),
  source:
    "one attempt per task, ε = 0.2 and the k2 penalty, whose gradient equals that of a KL term in the reward, from the paper; β = 1e-3 is ours, small because agents trained from scratch have to move far from their initial policy",
  frozen: { reference: {} },
  needs: ["freeze"],
  defaults: { tasks: 128, groupSize: 1 },
  options: {
    kl: { help: "coefficient of the KL penalty towards the reference, per nat", default: 1e-3, low: 0 },
  },
  slots: (s, o) => ({
    credit: perTurn(),
    advantage: [returnsToGo({ baseline: "none" }), whitened()],
    objective: [
      clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
      klPenalty({ coefficient: o.kl, estimator: "k2" }),
    ],
  }),
});
